import { Injectable } from '@nestjs/common';
import { Db } from '../platform/database/db.js';
import { mailService } from './mail-service.schema.js';
import type { Tx } from '../platform/database/tx.js';
import { mailErrors } from './mail-error.js';
import { newId } from './ids.js';
import { MailSettings } from './mail-settings.js';
import { cleanTexts } from './mime/clean-text.js';
import type { ParsedMessage } from './mime/message.js';
import { cutText } from '../lib/text/index.js';

/** Significant characters of a Message-ID in thread keys. */
const KEY = 250;

/** A message to store in a mailbox. */
export interface Delivery {
  userId: string;
  /** The mailbox's id or its special use. Default: the inbox. */
  mailbox?: string;
  rawId: string;
  size: number;
  parsed: ParsedMessage;
  /** Domain of the Message-ID that is added to a message without one. */
  domain: string;
  seen?: boolean;
  flagged?: boolean;
  draft?: boolean;
  envelope: { from: string; rcpt: { value: string; formatted: string }[] };
  metaData?: Record<string, unknown>;
  reference?: { mailbox: string; id: number; action: string };
  /** The mail arrived from another user or server: its calendar is offered to the workspace. */
  arrived?: boolean;
  /** Ignores the quota, for reports of the service itself. */
  unlimited?: boolean;
}

export interface Stored {
  mailbox: string;
  uid: number;
}

const store = mailService.statement<{
  outcome: 'ok' | 'no_user' | 'no_mailbox' | 'over_quota';
  mailbox: string;
  uid: string;
}>('messages.store', `SELECT * FROM store_message($1, $2, $3, $4)`);

/** Stores messages: uid, counters, thread, quota and the message itself in one statement. */
@Injectable()
export class MessageStore {
  constructor(
    private readonly db: Db,
    private readonly settings: MailSettings,
  ) {}

  /** @throws MailError 404 for an unknown user or mailbox, 400 over quota */
  async add(delivery: Delivery): Promise<Stored> {
    return this.db.single((tx) => this.addIn(tx, delivery));
  }

  /** Stores a message within a transaction. */
  async addIn(tx: Tx, delivery: Delivery): Promise<Stored> {
    const quota = delivery.unlimited ? 0 : this.settings.quotaBytes;
    const values = [delivery.userId, delivery.mailbox ?? '\\Inbox', JSON.stringify(row(delivery)), quota];
    const [stored] = await tx.query(store, values);
    if (stored?.outcome === 'over_quota') throw mailErrors.overQuota();
    if (stored?.outcome === 'no_user') throw mailErrors.userNotFound();
    if (stored?.outcome !== 'ok') throw mailErrors.noMailbox();
    return { mailbox: stored.mailbox, uid: Number(stored.uid) };
  }
}

function row(delivery: Delivery): Record<string, unknown> {
  const { parsed, envelope, rawId, size, metaData, reference } = delivery;
  const { seen = false, flagged = false, draft = false } = delivery;
  const messageId = parsed.messageId ?? `<${crypto.randomUUID()}@${delivery.domain}>`;
  const { from, replyTo, to, cc, bcc, references, contentType, attachments } = parsed;
  return cleanTexts({
    id: newId(),
    thread: newId(),
    keys: [...new Set([messageId, ...references])].map((key) => cutText(key, KEY)),
    rawId,
    size,
    date: parsed.date,
    messageId,
    subject: cutText(parsed.subject, 10_000),
    intro: parsed.intro,
    seen,
    flagged,
    draft,
    summary: { from, replyTo, to, cc, bcc, references, contentType, attachments, envelope },
    text: parsed.text,
    html: parsed.html,
    headers: parsed.headers,
    metaData: metaData ?? null,
    reference: reference ?? null,
    calendar: delivery.arrived ? parsed.calendar : null,
  });
}
