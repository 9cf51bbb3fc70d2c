import { randomInt } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type pg from 'pg';
import { PrimaryClient } from '../../platform/database/connections/primary-client.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { MAIL_SCHEMA, mailService } from '../mail-service.schema.js';
import { MailSettings } from '../mail-settings.js';

/** First key of the advisory locks of queue workers; the second is the worker's number. */
export const WORKER_LOCKS = 770_611;
export const LEASE_SECONDS = 60;
const HEARTBEAT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * The identity of this process as a queue worker. A separate session holds an advisory lock, which PostgreSQL releases when the
 * process dies, so that other workers take over its entries at once. If a machine disappears without closing its connections,
 * the leases of its entries expire, because the heartbeats are missing.
 */
@Injectable()
export class QueueLease {
  readonly worker = randomInt(1, 2 ** 31 - 1);
  private readonly logger = new Logger(QueueLease.name);
  private session: pg.Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  /** Claimed entries in progress: only their leases are extended. */
  readonly inProgress = new Set<readonly { id: string }[]>();

  constructor(private readonly settings: MailSettings) {}

  /** False while the worker has no session: it must not claim entries then. */
  get isHeld(): boolean {
    return this.session !== undefined;
  }

  async start(): Promise<void> {
    this.timer = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
    await this.beat();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.end(this.session);
  }

  private async beat(): Promise<void> {
    let { session } = this;
    try {
      session ??= await this.open();
      const ids = [...this.inProgress].map(([entry]) => entry?.id);
      await session.query(
        `UPDATE queue SET leased_until = now() + make_interval(secs => $2) WHERE worker = $1 AND id = ANY ($3::text[])`,
        [this.worker, LEASE_SECONDS, ids],
      );
      if (this.stopped) await this.end(session);
      else this.session = session;
    } catch (error) {
      this.logger.warn({ err: error }, 'the queue lease could not be extended');
      // A session that stays open keeps the lock, for which the next one would wait.
      await this.end(session);
    }
  }

  private async open(): Promise<pg.Client> {
    const session = new PrimaryClient({
      connectionString: this.settings.databaseUrl,
      session: { search_path: MAIL_SCHEMA },
      application_name: 'workspace mail queue',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: HEARTBEAT_MS,
      keepAlive: true,
    });
    session.on('error', () => void this.end(session));
    try {
      await session.connect();
      await session.query('SELECT pg_advisory_lock($1, $2)', [WORKER_LOCKS, this.worker]);
      return session;
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
  }

  private async end(session: pg.Client | undefined): Promise<void> {
    if (this.session === session) this.session = undefined;
    await session?.end().catch(() => undefined);
  }
}

/** A message to deliver to one recipient. */
export interface Entry {
  id: string;
  seq: number;
  /** The account of the sender; null for messages of the workspace itself. */
  user_id: string | null;
  sender: string;
  recipient: string;
  raw_id: string;
  subject: string;
  attempts: number;
  created_at: Date;
}

/** The entries of one message that were claimed together. */
export type Entries = readonly [Entry, ...Entry[]];

export interface Submission {
  userId: string;
  mailbox: string;
  uid: number;
  queueId: string;
  sender: string;
  recipients: string[];
  rawId: string;
  /** The date of the message, and the earliest time of delivery. */
  date: Date;
  /** Recipients in 24 hours; 0 is unlimited. */
  limit: number;
}

/** The result of `submit_draft`; int8 columns are text. */
export interface Submitted {
  outcome: 'ok' | 'gone' | 'not_draft' | 'rate_limited';
  mailbox: string;
  uid: string;
  size: string;
  /** Until the rate limit ends. */
  seconds: number;
}

/** The entries of one destination in one state. */
export interface QueueSummary {
  destination: 'local' | 'relay';
  state: 'due' | 'retrying' | 'scheduled';
  messages: number;
  /** Seconds since the oldest one was due or, when it is retried, submitted. */
  oldest: number;
}

const submit = mailService.statement<Submitted>('queue.submit', `SELECT * FROM submit_draft($1, $2, $3, $4)`);
/** Does nothing for the id of an earlier message. */
const submitSystem = mailService.statement<{ id: string }>(
  'queue.submit_system',
  `WITH accepted AS (
     INSERT INTO system_messages (id) VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING id),
   kept AS (UPDATE raws SET collect_after = NULL WHERE id = $4 AND EXISTS (SELECT FROM accepted))
   INSERT INTO queue (id, seq, user_id, sender, recipient, raw_id, subject, due_at)
   SELECT id, 1, NULL, $2, $3, $4, $5, now() FROM accepted RETURNING id`,
);
/** True for entries that no live worker holds. */
const FREE = `(worker IS NULL OR leased_until < now() OR worker::bigint NOT IN (
  SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = ${WORKER_LOCKS} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())))`;
/**
 * The due entries of one message, except messages whose first due recipient is in a domain of $3, or has an earlier due message of the
 * sender, also one in flight: two connections would not keep their order. The condition does not depend on claims of other processes,
 * which may not be visible yet. Index queue_pairs.
 */
const claim = mailService.statement<Entry>(
  'queue.claim',
  `WITH next AS (
     SELECT id FROM queue
     WHERE outside = $1 AND due_at <= now() AND ${FREE} AND substring(recipient FROM '[^@]*$') <> ALL ($3::text[])
       AND NOT EXISTS (
         SELECT FROM queue other
          WHERE other.recipient = queue.recipient AND other.sender = queue.sender AND other.id <> queue.id
            AND other.due_at <= now()
            AND ((other.due_at, other.created_at, other.id) < (queue.due_at, queue.created_at, queue.id)
                 OR other.worker IS NOT NULL AND NOT ${FREE}))
     ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
   UPDATE queue SET worker = $2, leased_until = now() + interval '${LEASE_SECONDS} seconds', attempts = attempts + 1
   FROM next WHERE queue.id = next.id AND outside = $1 AND due_at <= now() AND ${FREE}
   RETURNING queue.id, seq, user_id, sender, recipient, raw_id, subject, attempts, created_at`,
);
const finish = mailService.statement<{ raw_id: string }>(
  'queue.finish',
  `DELETE FROM queue WHERE id = $1 AND seq = $2 RETURNING raw_id`,
);
const forget = mailService.statement<never>('queue.forget', `SELECT forget_raws(ARRAY[$1])`);
const retry = mailService.statement<never>(
  'queue.retry',
  `UPDATE queue SET due_at = now() + make_interval(secs => $3), worker = NULL, leased_until = NULL
   WHERE id = $1 AND seq = $2`,
);
const toRelay = mailService.statement<never>(
  'queue.to_relay',
  `UPDATE queue SET outside = true, attempts = attempts - 1, worker = NULL, leased_until = NULL
   WHERE id = $1 AND seq = ANY ($2::int[])`,
);
const retryNow = mailService.statement<never>(
  'queue.retry_now',
  `UPDATE queue SET due_at = now(), outside = false
   WHERE recipient = $1 AND attempts > 0 AND due_at > now() AND worker IS NULL`,
);
/** The age of retrying entries counts from their submission, that of due entries from the time at which they were due. */
const summary = mailService.statement<QueueSummary>(
  'queue.summary',
  `SELECT CASE WHEN outside THEN 'relay' ELSE 'local' END AS destination, state, count(*)::int AS messages,
          greatest(extract(epoch FROM now() - min(CASE state WHEN 'retrying' THEN created_at ELSE due_at END)), 0)::float8 AS oldest
     FROM queue, LATERAL (SELECT CASE WHEN worker IS NOT NULL THEN 'due' WHEN attempts > 0 THEN 'retrying'
                                      WHEN due_at > now() THEN 'scheduled' ELSE 'due' END) AS entry (state)
    GROUP BY 1, 2`,
);
const next = mailService.statement<{ ms: number | null }>(
  'queue.next',
  `SELECT (extract(epoch FROM min(due_at) - now()) * 1000)::float8 AS ms FROM queue WHERE outside = $1 AND worker IS NULL`,
);

/** SQL of the queue. */
@Injectable()
export class QueueRepository {
  constructor(
    private readonly db: Db,
    private readonly lease: QueueLease,
  ) {}

  /** @param submission as `submit_draft` takes it */
  async submit({ userId, mailbox, uid, ...submission }: Submission): Promise<Submitted> {
    const [row] = await this.db.single((tx) => tx.query(submit, [userId, mailbox, uid, submission]));
    return row as Submitted;
  }

  /** Adds a message of the workspace itself. @returns false for the id of an earlier message */
  async submitSystem(
    message: Pick<Entry, 'id' | 'sender' | 'recipient' | 'subject'> & { rawId: string },
  ): Promise<boolean> {
    const { id, sender, recipient, rawId, subject } = message;
    const values = [id, sender, recipient, rawId, subject];
    return (await this.db.single((tx) => tx.query(submitSystem, values))).length > 0;
  }

  /**
   * Claims the due entries of one message for this worker.
   * @param outside whether to claim entries for the relay or local ones
   * @param exceptDomains domains that must not get more deliveries now
   */
  async claim(outside: boolean, exceptDomains: readonly string[] = []): Promise<Entries | undefined> {
    if (!this.lease.isHeld) return undefined;
    const values = [outside, this.lease.worker, exceptDomains];
    const [first, ...others] = await this.db.single((tx) => tx.query(claim, values));
    return first && [first, ...others];
  }

  /** Deletes an entry. @returns false when another worker has deleted it */
  async finishIn(tx: Tx, entry: Entry): Promise<boolean> {
    const [row] = await tx.query(finish, [entry.id, entry.seq]);
    if (row) await tx.query(forget, [row.raw_id]);
    return row !== undefined;
  }

  async retry(entry: Entry, seconds: number): Promise<void> {
    await this.db.single((tx) => tx.query(retry, [entry.id, entry.seq, seconds]));
  }

  /** Makes claimed local entries of one message entries for the relay. */
  async toRelay([first, ...others]: Entries): Promise<void> {
    const seqs = [first, ...others].map(({ seq }) => seq);
    await this.db.single((tx) => tx.query(toRelay, [first.id, seqs]));
  }

  /** Makes waiting entries of a recipient due for local delivery. */
  async retryNow(recipient: string): Promise<void> {
    await this.db.single((tx) => tx.query(retryNow, [recipient]));
  }

  async summary(): Promise<QueueSummary[]> {
    return this.db.queryAlways(summary, []);
  }

  /** Milliseconds until an unclaimed entry is due; undefined without one. */
  async untilNext(outside: boolean): Promise<number | undefined> {
    const [row] = await this.db.query(next, [outside]);
    return row?.ms ?? undefined;
  }
}

const DESTINATIONS = ['local', 'relay'] as const;
const STATES = ['due', 'retrying', 'scheduled'] as const;

/** Prometheus metrics of the mail queue. */
@Injectable()
export class QueueMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly queue: QueueRepository,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        mail_queue_messages:
          'Recipients that the embedded mail service has not delivered to. State: due, retrying (an attempt failed), scheduled (not due yet).',
        mail_queue_oldest_seconds: 'Time since the oldest entry of the mail queue was due; 0 without one.',
      },
      labelNames: ['destination', 'state'],
      read: async () => {
        const rows = await this.queue.summary();
        return DESTINATIONS.flatMap((destination) =>
          STATES.map((state) => {
            const row = rows.find((each) => each.destination === destination && each.state === state);
            const { messages = 0, oldest = 0 } = row ?? {};
            const values = { mail_queue_messages: messages, mail_queue_oldest_seconds: oldest };
            return { labels: { destination, state }, values };
          }),
        );
      },
    });
  }
}
