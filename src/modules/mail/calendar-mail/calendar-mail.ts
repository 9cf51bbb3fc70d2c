import { isStorable } from '../../../platform/http/storable-text.js';

/** Type of the outbox event for a calendar that arrived by mail. Payload: `CalendarMail`. */
export const CALENDAR_MAIL = 'mail.calendar.received';

/** A calendar that a user received by mail. */
export interface CalendarMail {
  user_id: string;
  /** The Message-ID. */
  message_id: string;
  /** The address of From; empty without one. */
  from: string;
  /**
   * Whether the receiving server has verified that the domain of From sent the mail, by SPF or DKIM. Null: it reports nothing.
   */
  is_authentic: boolean | null;
  /** The method of the Content-Type, upper case. */
  method: string | null;
  /** Base64; null for a message with TNEF (`winmail.dat`) instead of a calendar. */
  content: string | null;
}

/** A text of the mail service; empty for another value, and for one that the outbox cannot store: senders write what they like. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' && isStorable(value) ? value : '';
