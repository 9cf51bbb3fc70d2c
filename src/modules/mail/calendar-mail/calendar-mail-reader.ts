import { Injectable } from '@nestjs/common';
import { buffer } from 'node:stream/consumers';
import { type Fields, isFields, objectsOf } from '../input/fields.js';
import { messagePath } from '../mail-call.js';
import { MailClient, type MailOwner } from '../mail-client.js';
import { MailUpstream } from '../mail-upstream.js';
import { JsonResponse } from '../upstream-response.js';
import { type CalendarMail, textOf } from './calendar-mail.js';
import { hasOneSender } from './one-sender.js';

/** Maximum size of a calendar in bytes. Larger ones are ignored. */
const MAX_CALENDAR = 1_048_576;

const CALENDAR_TYPES = ['text/calendar', 'application/ics', 'application/ms-tnef'];

/** The listed attachment with the calendar: the `text/calendar` part of RFC 6047, else a calendar file, else TNEF. */
export function calendarAttachment(attachments: unknown): Fields | null {
  const listed = objectsOf(attachments);
  for (const type of CALENDAR_TYPES) {
    const found = listed.find(({ contentType }) => contentType === type);
    if (found) return found;
  }
  return null;
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
    const session = this.client.background(owner);
    const path = messagePath({ mailbox, message });
    const response = await session.json({ method: 'GET', path });
    const { status } = response;
    const value = await response.whole();
    if (status >= 500) throw this.upstream.failed(`status ${status} for a message`);
    if (status >= 300 || !isFields(value)) return null;
    const attachment = calendarAttachment(value['attachments']);
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
    const id = attachment['id'];
    if (typeof id !== 'string' || !/^ATT\d{1,12}$/i.test(id)) return null;
    if (Number(attachment['sizeKb'] ?? 0) * 1024 > MAX_CALENDAR * 2) return null;
    const file = await session.bytes({ method: 'GET', path: [...path, 'attachments', id], accept: '*/*' });
    if (file instanceof JsonResponse) {
      file.stream?.destroy();
      if (file.status >= 500) throw this.upstream.failed(`status ${file.status} for an attachment`);
      return null;
    }
    const bytes = await buffer(file.body.stream());
    return bytes.length > MAX_CALENDAR ? null : { ...mail, content: bytes.toString('base64') };
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
