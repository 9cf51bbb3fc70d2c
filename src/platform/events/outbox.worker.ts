import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../database/db.js';
import { statement } from '../database/statement.js';
import { type DomainEvent, Outbox } from './outbox.js';

const BATCH = 100;
const POLL_MS = 2_000;
const WAKE_MS = 50;
/** A batch not finished by then (its process died) is taken by another worker. */
const LEASE_SECONDS = 60;
const MAX_ATTEMPTS = 12;

interface ClaimedRow {
  tenant_id: string;
  id: string;
  type: string;
  payload: Record<string, unknown>;
  occurred_at: Date;
  attempts: number;
}

const claim = statement<ClaimedRow>(
  'outbox.claim',
  `UPDATE outbox o SET attempts = o.attempts + 1, due_at = now() + make_interval(secs => $2)
     FROM (SELECT tenant_id, id FROM outbox
            WHERE parked_at IS NULL AND due_at <= now() AND type = ANY ($3::text[])
            ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED) due
    WHERE o.tenant_id = due.tenant_id AND o.id = due.id
   RETURNING o.tenant_id, o.id, o.type, o.payload, o.occurred_at, o.attempts`,
);

const forget = statement<never>(
  'outbox.forget',
  `DELETE FROM outbox o USING unnest($1::uuid[], $2::uuid[]) AS done (tenant_id, id)
    WHERE o.tenant_id = done.tenant_id AND o.id = done.id`,
);

const forgetUnheard = statement<{ id: string }>(
  'outbox.forget_unheard',
  `DELETE FROM outbox o
    USING (SELECT tenant_id, id FROM outbox
            WHERE parked_at IS NULL AND due_at <= now() AND type <> ALL ($1::text[])
            LIMIT 5000 FOR UPDATE SKIP LOCKED) unheard
    WHERE o.tenant_id = unheard.tenant_id AND o.id = unheard.id
   RETURNING o.id`,
);

const postpone = statement<never>(
  'outbox.postpone',
  `UPDATE outbox SET due_at = now() + make_interval(secs => $3), last_error = $4,
          parked_at = CASE WHEN $5 THEN now() END
    WHERE tenant_id = $1 AND id = $2`,
);

/** Delivers the outbox. Any number of processes may run it: rows are claimed with SKIP LOCKED under a lease. */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(OutboxWorker.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | undefined;
  private stopped = false;

  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  onApplicationBootstrap(): void {
    this.outbox.onNotice(() => this.schedule(WAKE_MS));
    this.schedule(POLL_MS);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Delivers everything that is due now; for tests and for shutting down. @returns how many events were handled */
  async drain(): Promise<number> {
    let handled = 0;
    for (;;) {
      const unheard = await this.db.tx((tx) => tx.query(forgetUnheard, [this.outbox.subscribedTypes]));
      const batch = await this.deliverBatch();
      handled += batch;
      if (batch < BATCH && unheard.length === 0) return handled;
    }
  }

  private schedule(ms: number): void {
    if (this.stopped || this.running) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.running = this.drain()
        .catch((error: unknown) => this.logger.warn({ err: error }, 'outbox not delivered, will try again'))
        .finally(() => {
          this.running = undefined;
          this.schedule(POLL_MS);
        });
    }, ms);
    this.timer.unref();
  }

  private async deliverBatch(): Promise<number> {
    const types = this.outbox.subscribedTypes;
    if (types.length === 0) return 0;
    const rows = await this.db.single((tx) => tx.query(claim, [BATCH, LEASE_SECONDS, types]));
    const done: ClaimedRow[] = [];
    for (const row of rows) if (await this.deliver(row)) done.push(row);
    if (done.length > 0) {
      await this.db.single((tx) =>
        tx.query(forget, [done.map((row) => row.tenant_id), done.map((row) => row.id)]),
      );
    }
    return rows.length;
  }

  private async deliver(row: ClaimedRow): Promise<boolean> {
    const event: DomainEvent = {
      id: row.id,
      tenantId: row.tenant_id,
      type: row.type,
      payload: row.payload,
      occurredAt: row.occurred_at,
    };
    try {
      for (const handle of this.outbox.handlersOf(row.type)) await handle(event);
      return true;
    } catch (error) {
      const park = row.attempts >= MAX_ATTEMPTS;
      const pause = Math.min(2 ** row.attempts, 3600);
      const text = String(error).slice(0, 500);
      await this.db.single((tx) => tx.query(postpone, [row.tenant_id, row.id, pause, text, park]));
      this.logger.warn(
        { err: error, event: row.id, type: row.type, attempts: row.attempts },
        park ? 'event parked' : 'event postponed',
      );
      return false;
    }
  }
}
