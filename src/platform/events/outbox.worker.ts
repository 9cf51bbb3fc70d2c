import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { cutText } from '../../lib/text/index.js';
import { forProcess, outsideRequests } from '../current-work/current-work.js';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { WORK_QUEUES, type WorkQueue } from '../jobs/periodic-jobs.js';
import { type OpenSpan, runTraced } from '../telemetry/tracer.js';
import { type DomainEvent, Outbox, type OutboxEvent } from './outbox.js';

const BATCH = 100;
const POLL_MS = 2_000;
const WAKE_MS = 50;
/** Duration of a claim. A worker renews it while it works; another worker takes over an expired claim. */
const LEASE_SECONDS = 60;
const RENEWALS_PER_LEASE = 3;
const MAX_ATTEMPTS = 12;
/** After this number of attempts an event may be one that crashes its process, so it is claimed alone. */
const ISOLATE_AFTER_ATTEMPTS = 3;
/** Age at which an event without a handler is deleted. A newer version that is being deployed may handle it. */
const UNHANDLED_SECONDS = 300;

type ClaimedRow = Pick<OutboxEvent, 'tenant_id' | 'id' | 'type' | 'payload' | 'occurred_at' | 'attempts'>;

const claim = either.statement<ClaimedRow>(
  'outbox.claim',
  `WITH due AS MATERIALIZED (
     SELECT tenant_id, id FROM outbox
      WHERE parked_at IS NULL AND due_at <= now() AND type = ANY ($3::text[])
        AND (attempts >= ${ISOLATE_AFTER_ATTEMPTS}) = $4
      ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
   UPDATE outbox event SET attempts = event.attempts + 1, due_at = now() + make_interval(secs => $2)
     FROM due WHERE event.tenant_id = due.tenant_id AND event.id = due.id
   RETURNING event.tenant_id, event.id, event.type, event.payload, event.occurred_at, event.attempts`,
  { reach: 'cell' },
);

// The number of attempts identifies a claim: the next claim of the row has another one.
const CLAIMED = `unnest($1::uuid[], $2::uuid[], $3::int[]) AS claimed (tenant_id, id, attempts)
    WHERE event.tenant_id = claimed.tenant_id AND event.id = claimed.id AND event.attempts = claimed.attempts`;

const forget = either.statement<never>('outbox.forget', `DELETE FROM outbox event USING ${CLAIMED}`, {
  reach: 'cell',
});

const renew = either.statement<never>(
  'outbox.renew',
  `UPDATE outbox event SET due_at = now() + make_interval(secs => $4) FROM ${CLAIMED}`,
  { reach: 'cell' },
);

const release = either.statement<never>(
  'outbox.release',
  `UPDATE outbox event SET due_at = now(), attempts = event.attempts - 1 FROM ${CLAIMED}`,
  { reach: 'cell' },
);

const postpone = either.statement<never>(
  'outbox.postpone',
  `UPDATE outbox event SET due_at = now() + make_interval(secs => $4), last_error = $5,
          parked_at = CASE WHEN $6 THEN now() END
     FROM ${CLAIMED}`,
  { reach: 'cell' },
);

const forgetUnhandled = either.statement<Pick<OutboxEvent, 'id'>>(
  'outbox.forget_unhandled',
  `WITH unhandled AS MATERIALIZED (
     SELECT tenant_id, id FROM outbox
      WHERE parked_at IS NULL AND due_at <= now() - make_interval(secs => $2) AND type <> ALL ($1::text[])
      LIMIT 5000 FOR UPDATE SKIP LOCKED)
   DELETE FROM outbox event USING unhandled WHERE event.tenant_id = unhandled.tenant_id AND event.id = unhandled.id
   RETURNING event.id`,
  { reach: 'cell' },
);

/** Delivers the events of one queue in one cell. */
export class OutboxDelivery {
  private readonly logger = new Logger('OutboxWorker');
  private timer: NodeJS.Timeout | undefined;
  private timerDue = 0;
  private fullPassDue = 0;
  private noticed = false;
  private running: Promise<unknown> | undefined;
  private stopped = false;

  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly queue: WorkQueue,
    private readonly cell: string,
  ) {}

  start(): void {
    this.schedule(POLL_MS);
  }

  /** Schedules a delivery, because this process has committed an event. */
  notice(): void {
    this.noticed = true;
    outsideRequests(() => this.schedule(WAKE_MS));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Delivers all due events. @returns their number */
  async drain(): Promise<number> {
    // Events that the timer has claimed are older: they are delivered first.
    await this.running;
    const handled = await this.db.inCell(this.cell, () => this.deliverDue(true));
    // Meanwhile the timer may have claimed events too.
    await this.running;
    return handled;
  }

  /** @param isFullPass also claim events with many attempts, and delete those without a handler */
  private async deliverDue(isFullPass: boolean): Promise<number> {
    let handled = 0;
    for (;;) {
      const batch = await this.deliverBatch(BATCH, false);
      const isolated = isFullPass && !this.stopped ? await this.deliverBatch(1, true) : 0;
      const unhandled = isFullPass && this.queue === 'local' ? await this.forgetUnhandled() : 0;
      handled += batch + isolated;
      const more = batch === BATCH || isolated > 0 || unhandled > 0;
      if (this.stopped || !more) return handled;
    }
  }

  private async forgetUnhandled(): Promise<number> {
    const { subscribedTypes } = this.outbox;
    return (await this.db.single((tx) => tx.query(forgetUnhandled, [subscribedTypes, UNHANDLED_SECONDS])))
      .length;
  }

  /** Commits may start a delivery every {@link WAKE_MS}. Events of a full pass are not new, so {@link POLL_MS} suffices for it. */
  private isFullPassDue(): boolean {
    const now = Date.now();
    if (now < this.fullPassDue) return false;
    this.fullPassDue = now + POLL_MS;
    return true;
  }

  /** Keeps an earlier time, so that frequent commits do not postpone the delivery. */
  private schedule(ms: number): void {
    const due = Date.now() + ms;
    if (this.stopped || this.running || (this.timer && this.timerDue <= due)) return;
    clearTimeout(this.timer);
    this.timerDue = due;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.noticed = false;
      this.running = this.db
        .inCell(this.cell, () => this.deliverDue(this.isFullPassDue()))
        .catch((error: unknown) =>
          this.logger.warn({ err: error }, 'delivery of the outbox failed; it will be retried'),
        )
        .finally(() => {
          this.running = undefined;
          // This run may have missed an event that was committed meanwhile.
          this.schedule(this.noticed ? WAKE_MS : POLL_MS);
        });
    }, ms);
    this.timer.unref();
  }

  /** @param isolated claim events with many attempts instead of the others */
  private async deliverBatch(limit: number, isolated: boolean): Promise<number> {
    const types = this.outbox.typesOf(this.queue);
    if (types.length === 0) return 0;
    const rows = await this.db.single((tx) => tx.query(claim, [limit, LEASE_SECONDS, types, isolated]));
    const left = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const done: ClaimedRow[] = [];
    const heartbeat = setInterval(
      () => this.renew([...left, ...done]),
      (LEASE_SECONDS * 1000) / RENEWALS_PER_LEASE,
    );
    try {
      if (left.length > 1 && !isolated) await this.prepare(left.map(eventOf));
      for (let row = left[0]; row && !this.stopped; row = left[0]) {
        if (await this.deliver(row)) done.push(row);
        left.shift();
      }
    } finally {
      clearInterval(heartbeat);
      if (done.length > 0) await this.db.single((tx) => tx.query(forget, claimsOf(done)));
    }
    if (left.length > 0) await this.db.single((tx) => tx.query(release, claimsOf(left)));
    return rows.length - left.length;
  }

  private async prepare(events: readonly DomainEvent[]): Promise<void> {
    try {
      await runTraced(
        () => ({
          name: 'outbox prepare',
          kind: 'consumer',
          attributes: { 'messaging.batch.message_count': events.length },
          position: 'root',
        }),
        () => this.outbox.prepare(events),
      );
    } catch (error) {
      this.logger.warn({ err: error }, 'preparation of events failed; each event is handled alone');
    }
  }

  private renew(rows: ClaimedRow[]): void {
    forProcess(() => this.db.single((tx) => tx.query(renew, [...claimsOf(rows), LEASE_SECONDS]))).catch(
      (error: unknown) => this.logger.warn({ err: error }, 'renewal of the claim on events failed'),
    );
  }

  private deliver(row: ClaimedRow): Promise<boolean> {
    return runTraced(
      () => ({
        name: `outbox ${row.type}`,
        kind: 'consumer',
        attributes: {
          'messaging.operation.type': 'process',
          'messaging.message.id': row.id,
          'workspace.event_type': row.type,
          'workspace.tenant_id': row.tenant_id,
          'workspace.attempt': row.attempts,
        },
        position: 'root',
      }),
      (span) => this.handle(row, span),
    );
  }

  private async handle(row: ClaimedRow, span: OpenSpan): Promise<boolean> {
    const event = eventOf(row);
    try {
      if (row.attempts > MAX_ATTEMPTS) throw new Error('the process ended during each attempt');
      for (const handle of this.outbox.handlersOf(row.type)) await handle(event);
      return true;
    } catch (error) {
      span.fail(error instanceof Error ? error.name : 'unknown');
      const park = row.attempts >= MAX_ATTEMPTS;
      const pause = Math.min(2 ** row.attempts, 3600);
      const text = cutText(String(error), 500);
      await this.db.single((tx) => tx.query(postpone, [...claimsOf([row]), pause, text, park]));
      const fields = { err: error, event: row.id, type: row.type, attempts: row.attempts };
      this.logger.warn(fields, park ? 'event parked' : 'event postponed');
      return false;
    }
  }
}

const claimsOf = (rows: ClaimedRow[]) => [
  rows.map((row) => row.tenant_id),
  rows.map((row) => row.id),
  rows.map((row) => row.attempts),
];

const eventOf = (row: ClaimedRow): DomainEvent => ({
  id: row.id,
  tenantId: row.tenant_id,
  type: row.type,
  payload: row.payload,
  occurredAt: row.occurred_at,
});

/** How often a process looks for cells that were added or removed. */
const CELLS_MS = 5_000;

type Queues = ReadonlyMap<WorkQueue, OutboxDelivery>;

/**
 * Delivers the outbox of each cell. Any number of processes may run it: rows are claimed with SKIP LOCKED for a limited time.
 */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly cells = new Map<string, Queues>();
  private started = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  onApplicationBootstrap(): void {
    // A commit does not report its cell, so the deliveries of all cells run.
    this.outbox.onNotice((name) => this.all([name]).forEach((queue) => queue.notice()));
    for (const queue of this.all()) queue.start();
    this.started = true;
    this.timer = setInterval(() => this.followCells(), CELLS_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.all().map((queue) => queue.stop()));
  }

  /** Delivers everything that is due, for tests and shutdown. @returns the number of handled events */
  async drain(): Promise<number> {
    let total = 0;
    // Handlers append events of other queues.
    for (let handled = 1; handled > 0; total += handled) {
      handled = 0;
      for (const queue of this.all()) handled += await queue.drain();
    }
    return total;
  }

  /** The deliveries of these queues in all cells. */
  private all(names: readonly WorkQueue[] = WORK_QUEUES): OutboxDelivery[] {
    this.followCells();
    return names.flatMap((name) =>
      [...this.cells.values()].map((queues) => queues.get(name) as OutboxDelivery),
    );
  }

  private followCells(): void {
    const { cells } = this.db;
    for (const cell of cells) if (!this.cells.has(cell)) this.cells.set(cell, this.queuesOf(cell));
    for (const [cell, queues] of this.cells)
      if (!cells.includes(cell)) {
        this.cells.delete(cell);
        for (const queue of queues.values()) void queue.stop();
      }
  }

  private queuesOf(cell: string): Queues {
    const queue = (name: WorkQueue): [WorkQueue, OutboxDelivery] => {
      const delivery = new OutboxDelivery(this.db, this.outbox, name, cell);
      if (this.started) delivery.start();
      return [name, delivery];
    };
    return new Map(WORK_QUEUES.map(queue));
  }
}
