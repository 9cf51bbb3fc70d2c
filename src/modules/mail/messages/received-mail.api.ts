import { Injectable } from '@nestjs/common';
import { recipientOf, type Recipient } from './drafts/recipients.js';
import { type Fields, resultsOf } from '../input/fields.js';
import { messagesPath } from '../mail-call.js';
import { inboxOf, MailClient, type MailOwner, readFields } from '../mail-client.js';

/** The sender of a message in the inbox. */
export interface Sender extends Recipient {
  date: Date;
}

/** A part of the inbox. */
export interface ReceivedMail {
  /** Id of the inbox. */
  mailbox: string;
  /** Id of the newest message of the part; 0 without messages. */
  newest: number;
  /** Newest first. Messages without a valid address are missing. */
  senders: Sender[];
}

const PAGE = 100;
/** Pages of one call. Older messages of a long inbox are not read. */
const MAX_PAGES = 10;

/** The received messages of a user, for jobs of other domains. */
@Injectable()
export class ReceivedMailApi {
  constructor(private readonly client: MailClient) {}

  /**
   * Reads the senders of the newest messages of the inbox, at most 1,000.
   * @param lastMailbox the inbox of the last call
   * @param last id of the newest message of the last call; ignored when the inbox has changed
   * @throws ApiError without a mail service or an account, 500 `Proxy failed`
   */
  async senders(owner: MailOwner, lastMailbox: string | null, last: number): Promise<ReceivedMail> {
    const session = this.client.openBackground(owner);
    const inbox = await inboxOf(session);
    const after = inbox === lastMailbox ? last : 0;
    const received: ReceivedMail = { mailbox: inbox, newest: after, senders: [] };
    let next: unknown = '';
    for (let page = 0; page < MAX_PAGES && typeof next === 'string'; page += 1) {
      const query = new URLSearchParams({ limit: String(PAGE), order: 'desc', ...(next && { next }) });
      const value = await readFields(session, messagesPath(inbox), query);
      const messages = resultsOf(value);
      const unread = messages.filter((message) => Number(message['id']) > after);
      for (const message of unread) {
        received.newest = Math.max(received.newest, Number(message['id']));
        const sender = senderOf(message);
        if (sender) received.senders.push(sender);
      }
      if (unread.length < messages.length) break;
      next = value['nextCursor'];
    }
    return received;
  }
}

function senderOf({ from, date }: Fields): Sender | undefined {
  const sender = recipientOf(from);
  const time = new Date(typeof date === 'string' ? date : Number.NaN);
  return sender && !Number.isNaN(time.getTime()) ? { ...sender, date: time } : undefined;
}
