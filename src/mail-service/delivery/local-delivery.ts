import { Injectable, Logger } from '@nestjs/common';
import MimeNode from 'nodemailer/lib/mime-node';
import { BlobMissingError } from '../../platform/blobs/store/object-store.js';
import { Db } from '../../platform/database/db.js';
import type { DeliveryOutcome, Failure } from '../../platform/smtp/smtp-relay.js';
import { domainOf } from '../accounts/addresses.js';
import { MailError } from '../mail-error.js';
import { MessageStore } from '../message-store.js';
import type { ParsedMessage } from '../mime/message.js';
import { MimeWorkers } from '../mime/mime-workers.js';
import { sizeOf, streamOf } from '../storage/bytes.js';
import { RawMessages } from '../storage/raw-messages.js';
import { Spool } from '../storage/spool.js';
import { MAILBOX_DELETED, MAILBOX_FULL } from './outgoing-relay.js';
import { type Entry, QueueRepository } from './queue.repository.js';

/** Maximum of the original message's headers that a bounce contains. */
export const HEADER_BYTES = 16_384;

/**
 * Builds a bounce: a text for the sender, a delivery status notification (RFC 3464) and the headers of the message.
 * @param original the first bytes of the message
 */
export async function bounceMessage(entry: Entry, failure: Failure, original: Uint8Array): Promise<Buffer> {
  const domain = domainOf(entry.sender);
  const report = new MimeNode('multipart/report; report-type=delivery-status');
  report.setHeader({
    from: { name: 'Mail Delivery System', address: `MAILER-DAEMON@${domain}` },
    to: entry.sender,
    subject: 'Undelivered mail returned to sender',
    'auto-submitted': 'auto-replied',
    'x-failed-recipients': entry.recipient,
  });
  const reason = oneLine(failure.reason);
  report
    .createChild('text/plain; charset=utf-8')
    .setContent(
      [
        'Your message could not be delivered.',
        '',
        `  To:       ${entry.recipient}`,
        `  Subject:  ${oneLine(entry.subject)}`,
        '',
        `Reason: ${reason}`,
        '',
        'The message was not delivered to this recipient and will not be sent again.',
        '',
      ].join('\r\n'),
    );
  // RFC 6533: other characters need the address type utf-8, in a report that may contain them.
  const isAscii = /^[\x20-\x7e]*$/.test(entry.recipient);
  report
    .createChild(isAscii ? 'message/delivery-status' : 'message/global-delivery-status')
    .setContent(
      [
        `Reporting-MTA: dns; ${domain}`,
        `Arrival-Date: ${entry.created_at.toUTCString()}`,
        '',
        `Final-Recipient: ${isAscii ? 'rfc822' : 'utf-8'}; ${entry.recipient}`,
        'Action: failed',
        `Status: ${failure.status}`,
        `Diagnostic-Code: smtp; ${reason}`,
        '',
      ].join('\r\n'),
    );
  report.createChild('text/rfc822-headers').setContent(headersOf(original));
  return report.build();
}

function headersOf(raw: Uint8Array): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, HEADER_BYTES));
  const end = bytes.indexOf('\r\n\r\n');
  return end < 0 ? bytes : bytes.subarray(0, end + 2);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Another worker finished the entry: the transaction is rolled back. */
class AlreadyDeliveredError extends Error {}

export interface LocalMessage {
  size: number;
  parsed: ParsedMessage;
}

/** Stores queued messages and bounces in mailboxes, exactly once: the same transaction deletes the entry of the queue. */
@Injectable()
export class LocalDelivery {
  private readonly logger = new Logger(LocalDelivery.name);

  constructor(
    private readonly queue: QueueRepository,
    private readonly raws: RawMessages,
    private readonly mime: MimeWorkers,
    private readonly store: MessageStore,
    private readonly db: Db,
    private readonly spool: Spool,
  ) {}

  /** @returns undefined when the message is missing or cannot be parsed, e.g. since its headers exceed the limit */
  read(rawId: string): Promise<LocalMessage | undefined> {
    return this.spool.runWithScratch(async (scratch) => {
      try {
        const raw = await this.raws.read(rawId, scratch);
        return { size: sizeOf(raw), parsed: await this.mime.parse(raw) };
      } catch (error) {
        if (error instanceof BlobMissingError) return undefined;
        if (error instanceof MailError && error.status === 400) return undefined;
        throw error;
      }
    });
  }

  /** @returns the failure; undefined when the entry is finished */
  async deliver(entry: Entry, userId: string, message: LocalMessage): Promise<DeliveryOutcome | undefined> {
    const { sender, recipient } = entry;
    const envelope = { from: sender, rcpt: [{ value: recipient, formatted: recipient }] };
    try {
      await this.add(entry, { ...message, userId, rawId: entry.raw_id, envelope, arrived: true });
    } catch (error) {
      if (error instanceof MailError) return error.status === 404 ? MAILBOX_DELETED : MAILBOX_FULL;
      throw error;
    }
    return undefined;
  }

  /** Reports a failure to the sender, or to the log for a message of the workspace itself, and finishes the entry. */
  async bounce(entry: Entry, failure: Failure): Promise<void> {
    const userId = entry.user_id;
    if (userId === null) {
      this.logger.warn(
        { queue: entry.id, status: failure.status },
        'a system message could not be delivered',
      );
      await this.db.tx((tx) => this.queue.finishIn(tx, entry));
      return;
    }
    const head = await this.raws.head(entry.raw_id, HEADER_BYTES).catch((error: unknown) => {
      if (error instanceof BlobMissingError) return Buffer.alloc(0);
      throw error;
    });
    const raw = await bounceMessage(entry, failure, head);
    const parsed = await this.mime.parse(raw);
    const rawId = await this.raws.put(streamOf(raw));
    // An empty envelope sender keeps the bounce from bouncing.
    const envelope = { from: '', rcpt: [{ value: entry.sender, formatted: entry.sender }] };
    await this.add(entry, { size: raw.length, parsed, userId, rawId, envelope, unlimited: true });
  }

  private async add(
    entry: Entry,
    message: LocalMessage &
      Pick<Parameters<MessageStore['addIn']>[1], 'userId' | 'rawId' | 'envelope' | 'unlimited' | 'arrived'>,
  ): Promise<void> {
    try {
      await this.db.tx(async (tx) => {
        await this.store.addIn(tx, { ...message, domain: domainOf(entry.sender) });
        if (!(await this.queue.finishIn(tx, entry))) throw new AlreadyDeliveredError();
      });
    } catch (error) {
      if (!(error instanceof AlreadyDeliveredError)) throw error;
    }
  }
}
