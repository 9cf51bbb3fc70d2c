import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { mailService } from '../mail-service.schema.js';
import type { Tx } from '../../platform/database/tx.js';

const BATCH = 50;

/** A message on its way to one recipient. */
export interface Entry {
  id: string;
  seq: number;
  user_id: string;
  sender: string;
  recipient: string;
  raw_id: string;
  subject: string;
  attempts: number;
  created_at: Date;
}

export interface Submission {
  userId: string;
  mailbox: string;
  uid: number;
  queueId: string;
  sender: string;
  recipients: string[];
  rawId: string;
  /** The date the message bears, and before which it is not sent. */
  date: Date;
  /** Recipients in 24 hours; 0 is no limit. */
  limit: number;
}

export type Submitted =
  | { outcome: 'ok'; mailbox: string; uid: number; size: number }
  | { outcome: 'gone' }
  | { outcome: 'not_draft' }
  | { outcome: 'rate_limited'; seconds: number };

interface SubmitRow {
  outcome: Submitted['outcome'];
  mailbox: string;
  uid: string;
  size: string;
  seconds: number;
}

const submit = mailService.statement<SubmitRow>(
  'queue.submit',
  `SELECT * FROM submit_draft($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)`,
);
/** The lease is a later time to try: who dies with a message leaves it to be tried again. */
const claim = mailService.statement<Entry>(
  'queue.claim',
  `UPDATE queue q SET due_at = now() + interval '15 minutes', attempts = q.attempts + 1
   FROM (SELECT id, seq FROM queue WHERE due_at <= now() ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) due
   WHERE q.id = due.id AND q.seq = due.seq
   RETURNING q.id, q.seq, q.user_id, q.sender, q.recipient, q.raw_id, q.subject, q.attempts, q.created_at`,
);
const finish = mailService.statement<{ raw_id: string }>(
  'queue.finish',
  `DELETE FROM queue WHERE id = $1 AND seq = $2 RETURNING raw_id`,
);
const forget = mailService.statement<never>('queue.forget', `SELECT forget_raws(ARRAY[$1])`);
const later = mailService.statement<never>(
  'queue.later',
  `UPDATE queue SET due_at = now() + make_interval(secs => $3) WHERE id = $1 AND seq = $2`,
);
const hurry = mailService.statement<never>(
  'queue.hurry',
  `UPDATE queue SET due_at = now() WHERE recipient = $1 AND attempts > 0 AND due_at > now()`,
);
const next = mailService.statement<{ ms: number | null }>(
  'queue.next',
  `SELECT (extract(epoch FROM min(due_at) - now()) * 1000)::float8 AS ms FROM queue`,
);

/** SQL of the queue. */
@Injectable()
export class QueueRepository {
  constructor(private readonly db: Db) {}

  async submit(s: Submission): Promise<Submitted> {
    const values = [s.userId, s.mailbox, s.uid, s.queueId, s.sender, s.recipients, s.rawId, s.date, s.limit];
    const [row] = await this.db.single((tx) => tx.query(submit, values));
    if (row?.outcome === 'ok') {
      return { outcome: 'ok', mailbox: row.mailbox, uid: Number(row.uid), size: Number(row.size) };
    }
    if (row?.outcome === 'rate_limited') return { outcome: 'rate_limited', seconds: row.seconds };
    return row?.outcome === 'not_draft' ? { outcome: 'not_draft' } : { outcome: 'gone' };
  }

  /** Takes what is due, for 15 minutes. */
  async claim(): Promise<Entry[]> {
    return this.db.single((tx) => tx.query(claim, []));
  }

  /** @returns false when somebody else has finished it */
  async finishIn(tx: Tx, entry: Entry): Promise<boolean> {
    const [row] = await tx.query(finish, [entry.id, entry.seq]);
    if (row) await tx.query(forget, [row.raw_id]);
    return row !== undefined;
  }

  async later(entry: Entry, seconds: number): Promise<void> {
    await this.db.single((tx) => tx.query(later, [entry.id, entry.seq, seconds]));
  }

  /** What was tried before for this recipient is due now. */
  async hurry(recipient: string): Promise<void> {
    await this.db.single((tx) => tx.query(hurry, [recipient]));
  }

  /** Milliseconds until something is due; undefined when nothing will be. */
  async untilNext(): Promise<number | undefined> {
    const [row] = await this.db.query(next, []);
    return row?.ms ?? undefined;
  }
}
