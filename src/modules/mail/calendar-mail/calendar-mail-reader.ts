import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { isStorable } from '../../../platform/http/storable-text.js';
import { type Fields, isFields, objectsOf } from '../input/fields.js';
import { messagePath } from '../mail-call.js';
import { MailClient, type MailOwner, type MailSession } from '../mail-client.js';
import { MailUpstream } from '../mail-upstream.js';
import { JsonResponse } from '../upstream-response.js';

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
   * Whether the receiving server has verified that the domain of From sent the mail, by SPF or DKIM. Null means that it reports nothing.
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

/**
 * Whether a mail has exactly one From with exactly one address (RFC 7489, section 6.6.1). Otherwise a verified domain proves nothing:
 * servers and clients differ in which of the addresses they verify and show.
 * @param headers `{ key, value }` of a message; missing: the mail service does not report them
 */
export function hasOneSender(headers: unknown): boolean {
  if (!Array.isArray(headers)) return true;
  const values = objectsOf(headers).flatMap(({ key, value }) =>
    typeof key === 'string' && key.toLowerCase() === 'from' ? [String(value)] : [],
  );
  return values.length === 1 && countAddresses(values[0] as string) === 1;
}

/**
 * The number of `@` outside of quoted strings and comments (RFC 5322, section 3.2). One that does not end is none, as for the mail service.
 */
function countAddresses(header: string): number {
  let count = 0;
  let open = 0;
  let comments = 0;
  let isQuoted = false;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (character === '\\' && (isQuoted || comments > 0)) at += 1;
    else if (isQuoted) isQuoted = character !== '"';
    else if (comments > 0) comments += character === '(' ? 1 : character === ')' ? -1 : 0;
    else if (character === '(' || character === '"') {
      open = at;
      if (character === '(') comments = 1;
      else isQuoted = true;
    } else if (character === '@') count += 1;
  }
  return isQuoted || comments > 0 ? count + header.slice(open).split('@').length - 1 : count;
}

/** Maximum size of a calendar in bytes. Larger ones are ignored. */
const MAX_CALENDAR = 1_048_576;
const LINE_END = Buffer.from('\r\n');

const CALENDAR_TYPES = ['text/calendar', 'application/ics', 'application/ms-tnef'];

/** Calendars of one mail that are read; further ones are ignored. */
const MAX_PARTS = 20;

/** The listed attachments with calendars: the `text/calendar` parts of RFC 6047, else calendar files, else TNEF. */
export function calendarAttachments(attachments: unknown): Fields[] {
  const listed = objectsOf(attachments);
  for (const type of CALENDAR_TYPES) {
    const found = listed.filter(({ contentType }) => contentType === type);
    if (found.length > 0) return found.slice(0, MAX_PARTS);
  }
  return [];
}

/** Reads the calendar of one message from the mailbox of a user. */
@Injectable()
export class CalendarMailReader {
  constructor(
    private readonly client: MailClient,
    private readonly upstream: MailUpstream,
  ) {}

  /**
   * @returns null for an unknown message, and for one without a calendar
   * @throws ApiError of the mail service
   */
  async read(owner: MailOwner, mailbox: string, message: number): Promise<CalendarMail | null> {
    const session = this.client.openBackground(owner);
    const path = messagePath({ mailbox, message });
    const response = await session.json({ method: 'GET', path });
    const { status } = response;
    const value = await response.readWhole();
    if (status >= 500) throw this.upstream.reportFailure(`status ${status} for a message`);
    if (status >= 300 || !isFields(value)) return null;
    const attachments = calendarAttachments(value['attachments']);
    const [attachment] = attachments;
    if (!attachment) return null;
    const from = addressOf(value['from']);
    const mail = {
      user_id: owner.userId,
      message_id: textOf(value['messageId']),
      from,
      is_authentic: hasOneSender(value['headers']) ? isAuthentic(value['verificationResults'], from) : false,
      method: null,
    };
    if (attachment['contentType'] === CALENDAR_TYPES[2]) return { ...mail, content: null };
    const contents: Buffer[] = [];
    for (const each of attachments) {
      const content = await this.content(session, path, each);
      const length = contents.reduce((sum, other) => sum + other.length, content?.length ?? 0);
      const isNew = content && !contents.some((other) => other.equals(content));
      if (isNew && length <= MAX_CALENDAR) contents.push(...(contents.length > 0 ? [LINE_END] : []), content);
    }
    return contents.length === 0 ? null : { ...mail, content: Buffer.concat(contents).toString('base64') };
  }

  /** The bytes of an attachment; null for one that cannot be read. @throws ApiError of the mail service */
  private async content(
    session: MailSession,
    path: ReturnType<typeof messagePath>,
    attachment: Fields,
  ): Promise<Buffer | null> {
    const id = attachment['id'];
    if (typeof id !== 'string' || !/^ATT\d{1,12}$/i.test(id)) return null;
    if (Number(attachment['sizeKb'] ?? 0) * 1024 > MAX_CALENDAR * 2) return null;
    const file = await session.bytes({ method: 'GET', path: [...path, 'attachments', id], accept: '*/*' });
    if (file instanceof JsonResponse) {
      file.stream?.destroy();
      if (file.status >= 500) throw this.upstream.reportFailure(`status ${file.status} for an attachment`);
      return null;
    }
    const bytes = await buffer(file.body.stream());
    return bytes.length > MAX_CALENDAR ? null : bytes;
  }
}

const addressOf = (from: unknown): string => (isFields(from) ? textOf(from['address']) : '');

/**
 * Reads the results of WildDuck: `spf` and `dkim` contain the verified domain, or false. As in DMARC (RFC 7489, 3.1), the verified
 * domain must be equal to the domain of From, or one of them must be a subdomain of the other.
 * @returns null without results
 */
function isAuthentic(results: unknown, from: string): boolean | null {
  if (!isFields(results)) return null;
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  return [results['spf'], results['dkim']].some(
    (verified) => typeof verified === 'string' && isAligned(verified.toLowerCase(), domain),
  );
}

function isAligned(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short === long || (short.includes('.') && long.endsWith(`.${short}`));
}
