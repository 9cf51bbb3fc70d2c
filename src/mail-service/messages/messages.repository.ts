import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { mailService } from '../mail-service.schema.js';
import type { AttachmentInfo, ParsedMessage } from '../mime/message.js';

/** A set of message ids: a list or a range. */
export interface UidSet {
  uids: number[];
  /** Null without a range. */
  low: number | null;
  high: number | null;
}

const clamp = (text: string): number => Math.min(Number(text), Number.MAX_SAFE_INTEGER);

/** No message has an id that is not a whole number. */
export const listOf = (uids: number[]): UidSet => ({
  uids: uids.filter(Number.isSafeInteger),
  low: null,
  high: null,
});

/** @param text `1,2,3` or `3:15` or `3:*` */
export function parseUids(text: string): UidSet {
  if (!text.includes(':')) return listOf([...new Set(text.split(',').map(clamp))]);
  const [from = '', to = ''] = text.split(':');
  const ends = [clamp(from), to === '*' ? Number.MAX_SAFE_INTEGER : clamp(to)];
  return { uids: [], low: Math.min(...ends), high: Math.max(...ends) };
}

/** A message; int8 columns are text. */
export interface MessageRow {
  uid: string;
  mailbox_id: string;
  thread: string;
  raw_id: string;
  size: string;
  idate: Date;
  hdate: Date;
  message_id: string;
  subject: string;
  seen: boolean;
  flagged: boolean;
  deleted: boolean;
  draft: boolean;
  answered: boolean;
  forwarded: boolean;
  summary: Pick<
    ParsedMessage,
    'from' | 'replyTo' | 'to' | 'cc' | 'bcc' | 'references' | 'contentType' | 'attachments'
  > & { envelope: unknown };
  /** Values by lower-case name. */
  headers: Record<string, string[]>;
  body_text: string;
  body_html: string | null;
  meta_data: Record<string, unknown>;
  reference: { mailbox: string; id: number; action: string } | null;
  expires_at: Date | null;
  queued: boolean;
  queue_id: string | null;
}

const find = mailService.statement<MessageRow>(
  'messages.find',
  `SELECT uid, mailbox_id, thread, raw_id, size, idate, hdate, message_id, subject, seen, flagged, deleted, draft, answered,
     forwarded, summary, body_text, body_html, headers, meta_data, reference, expires_at, queue_id,
     queue_id IS NOT NULL AND EXISTS (SELECT FROM queue WHERE queue.id = messages.queue_id) AS queued
   FROM messages WHERE user_id = $1 AND mailbox_id = $2 AND uid = $3`,
);
const raw = mailService.statement<{ raw_id: string; attachments: AttachmentInfo[] }>(
  'messages.raw',
  `SELECT raw_id, summary->'attachments' AS attachments FROM messages WHERE user_id = $1 AND mailbox_id = $2 AND uid = $3`,
);
const move = mailService.statement<{
  outcome: 'ok' | 'no_target' | 'none';
  old_uid: string;
  new_uid: string;
}>('messages.move', `SELECT * FROM move_messages($1, $2, $3, $4, $5, $6) ORDER BY old_uid`);
const flag = mailService.statement<{ matched: string }>(
  'messages.flag',
  `SELECT flag_messages($1, $2, $3, $4, $5, $6) AS matched`,
);
const remove = mailService.statement<{ deleted: string }>(
  'messages.remove',
  `SELECT delete_messages($1, $2, $3, $4, $5) AS deleted`,
);
const expired = mailService.statement<{ user_id: string; mailbox_id: string; uids: string[] }>(
  'messages.expired',
  `SELECT user_id, mailbox_id, array_agg(uid) AS uids
   FROM (SELECT user_id, mailbox_id, uid FROM messages WHERE expires_at < now() ORDER BY expires_at LIMIT 1000) expired
   GROUP BY 1, 2`,
);

/** New values of a message's fields, as `flag_messages` takes them; undefined keeps a field. */
export interface FlagChange {
  seen?: boolean | undefined;
  flagged?: boolean | undefined;
  deleted?: boolean | undefined;
  metaData?: Record<string, unknown> | undefined;
  /** Time of deletion; null for never. */
  expires?: Date | null | undefined;
}

/** SQL of messages, except lists. */
@Injectable()
export class MessagesRepository {
  constructor(private readonly db: Db) {}

  async find(userId: string, mailbox: string, uid: number): Promise<MessageRow | undefined> {
    return Number.isSafeInteger(uid) ? (await this.db.query(find, [userId, mailbox, uid]))[0] : undefined;
  }

  /** The blob and the attachment list of a message. */
  async findRaw(userId: string, mailbox: string, uid: number) {
    return Number.isSafeInteger(uid) ? (await this.db.query(raw, [userId, mailbox, uid]))[0] : undefined;
  }

  /**
   * @param change applied to the moved messages; null for none
   * @returns old and new uids
   */
  async move(
    userId: string,
    from: string,
    { uids, low, high }: UidSet,
    to: string,
    change: FlagChange | null,
  ) {
    const values = [userId, from, uids, low, high, to];
    const rows =
      change === null
        ? await this.db.single((tx) => tx.query(move, values))
        : await this.db.tx(async (tx) => {
            const done = await tx.query(move, values);
            const arrived = listOf(done.map((row) => Number(row.new_uid)));
            if (done[0]?.outcome === 'ok') await tx.query(flag, flagValues(userId, to, arrived, change));
            return done;
          });
    return {
      outcome: rows[0]?.outcome ?? 'none',
      moved: rows.map((row): [number, number] => [Number(row.old_uid), Number(row.new_uid)]),
    };
  }

  /** @returns the number of messages found */
  async flag(userId: string, mailbox: string, set: UidSet, change: FlagChange): Promise<number> {
    const [row] = await this.db.single((tx) => tx.query(flag, flagValues(userId, mailbox, set, change)));
    return Number(row?.matched ?? 0);
  }

  /** @returns the number of messages deleted */
  async remove(userId: string, mailbox: string, { uids, low, high }: UidSet): Promise<number> {
    const [row] = await this.db.single((tx) => tx.query(remove, [userId, mailbox, uids, low, high]));
    return Number(row?.deleted ?? 0);
  }

  /** Deletes expired messages. @returns their number */
  async removeExpired(): Promise<number> {
    let deleted = 0;
    for (const { user_id, mailbox_id, uids } of await this.db.query(expired, []))
      deleted += await this.remove(user_id, mailbox_id, listOf(uids.map(Number)));
    return deleted;
  }
}

const flagValues = (userId: string, mailbox: string, set: UidSet, change: FlagChange): unknown[] => [
  userId,
  mailbox,
  set.uids,
  set.low,
  set.high,
  change,
];
