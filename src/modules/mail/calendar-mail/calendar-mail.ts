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
   * Whether the receiving server has verified that the domain of From sent the mail, by SPF or DKIM. Null: not reported.
   */
  is_authentic: boolean | null;
  /** The method of the Content-Type, upper case. */
  method: string | null;
  /** Base64; null for a message with TNEF (`winmail.dat`) instead of a calendar. */
  content: string | null;
}

/** The value if it is a text that the outbox can store, else an empty text. Senders control the fields of a message. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' && isStorable(value) ? value : '';
