import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { statement } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { refuse } from '../http/mail-error.js';
import { newId } from '../ids.js';
import { MailSettings } from '../mail-settings.js';
import { cleanTexts } from '../mime/clean-text.js';
import type { ParsedMessage } from '../mime/message.js';

/** Message-IDs are looked up by this many characters. */
const KEY = 250;

/** A message to be put into a mailbox. */
export interface Delivery {
  userId: string;
  /** The mailbox's id or its special use. */
  mailbox: string;
  rawId: string;
  size: number;
  parsed: ParsedMessage;
  /** For the Message-ID of a message without one. */
  domain: string;
  seen: boolean;
  flagged: boolean;
  draft: boolean;
  envelope: { from: string; rcpt: { value: string; formatted: string }[] };
  metaData?: Record<string, unknown>;
  reference?: { mailbox: string; id: number; action: string };
  /** Stored whatever the quota says: what the service itself has to tell. */
  unlimited?: boolean;
}

/** Where a message is now. */
export interface Stored {
  mailbox: string;
  uid: number;
}

const store = statement<{ outcome: 'ok' | 'no_mailbox' | 'over_quota'; mailbox: string; uid: string }>(
  'messages.store',
  `SELECT * FROM store_message($1, $2, $3, $4)`,
);

/** Puts messages into mailboxes: uid, counters, thread, quota and the message itself in one statement. */
@Injectable()
export class MessageStore {
  constructor(
    private readonly db: Db,
    private readonly settings: MailSettings,
  ) {}

  /** @throws MailError no mailbox, over quota */
  async add(delivery: Delivery): Promise<Stored> {
    return this.db.single((tx) => this.addIn(tx, delivery));
  }

  /** The same in a transaction, e.g. with the end of its entry in the queue. */
  async addIn(tx: Tx, delivery: Delivery): Promise<Stored> {
    const quota = delivery.unlimited ? 0 : this.settings.quotaBytes;
    const values = [delivery.userId, delivery.mailbox, JSON.stringify(row(delivery)), quota];
    const [stored] = await tx.query(store, values);
    if (stored?.outcome === 'over_quota') throw refuse.overQuota();
    if (stored?.outcome !== 'ok') throw refuse.noMailbox();
    return { mailbox: stored.mailbox, uid: Number(stored.uid) };
  }
}

function row(delivery: Delivery): Record<string, unknown> {
  const { parsed, envelope, rawId, size, seen, flagged, draft, metaData, reference } = delivery;
  const messageId = parsed.messageId ?? `<${crypto.randomUUID()}@${delivery.domain}>`;
  const { from, replyTo, to, cc, bcc, references, contentType, attachments } = parsed;
  return cleanTexts({
    id: newId(),
    thread: newId(),
    keys: [...new Set([messageId, ...references])].map((key) => key.slice(0, KEY)),
    rawId,
    size,
    date: parsed.date,
    messageId,
    subject: parsed.subject.slice(0, 10_000),
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
  });
}
