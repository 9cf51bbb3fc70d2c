import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import type { WorkQueue } from '../jobs/periodic-jobs.js';
import { Metrics } from '../observability/metrics.js';
import { isAnonymous, makeId } from './anonymous-events.js';

@Entity('outbox')
@Index('outbox_due', ['due_at'], { where: 'parked_at IS NULL' })
export class OutboxEvent {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') type!: string;
  @Column('jsonb') payload!: Record<string, unknown>;
  @Column('timestamptz') occurred_at!: Date;
  @Column('int') attempts!: number;
  @Column('timestamptz') due_at!: Date;
  @Column('timestamptz', { nullable: true }) parked_at!: Date | null;
  @Column('text', { nullable: true }) last_error!: string | null;
}

/** A domain event as its consumers receive it. */
export interface DomainEvent<P = Record<string, unknown>> {
  /** Delivery is at least once, so handlers ignore ids that they have handled. */
  readonly id: string;
  readonly tenantId: string;
  /** `<domain>.<past tense>`, e.g. `note.trashed`. */
  readonly type: string;
  readonly payload: P;
  readonly occurredAt: Date;
}

type EventHandler = (event: DomainEvent) => Promise<void>;

type BatchPreparation = (events: readonly DomainEvent[]) => Promise<void>;

const append = either.statement<never>(
  'outbox.append',
  `INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, $3, $4)`,
);

/**
 * Transactional outbox: domain events are written in the transaction that causes them and delivered to their consumers after
 * it. Consumers register at start; producers do not import them.
 */
@Injectable()
export class Outbox {
  private readonly handlers = new Map<string, Map<string, EventHandler>>();
  /** The key is the type. */
  private readonly queues = new Map<string, WorkQueue>();
  private readonly preparations = new Map<string, BatchPreparation>();
  private wakeUp: (queue: WorkQueue) => void = () => undefined;

  /** Adds an event to the transaction. SQL functions that write insert their events themselves. */
  async append(
    tx: Tx,
    event: { tenantId: string; type: string; payload: Record<string, unknown> },
  ): Promise<void> {
    const id = makeId(isAnonymous(event.payload));
    await tx.query(append, [event.tenantId, id, event.type, event.payload]);
    this.notice(tx, this.queues.get(event.type));
  }

  /** Wakes the worker of this process after the commit. */
  notice(tx: Tx, queue: WorkQueue = 'local'): void {
    tx.afterCommit(() => this.wakeUp(queue));
  }

  /**
   * @param consumer unique name of the handler
   * @param handler retried with growing delays when it throws
   * @param queue the same for all handlers of a type
   */
  subscribe(type: string, consumer: string, handler: EventHandler, queue: WorkQueue = 'local'): void {
    const known = this.queues.get(type) ?? queue;
    if (known !== queue) throw new Error(`${type} is delivered in the queue ${known}`);
    this.queues.set(type, queue);
    const consumers = this.handlers.get(type) ?? new Map<string, EventHandler>();
    if (consumers.has(consumer)) throw new Error(`${consumer} already handles ${type}`);
    this.handlers.set(type, consumers.set(consumer, handler));
  }

  /**
   * Lets a consumer do the work of many events at once, before their handlers run one after the other. Its handlers skip events
   * whose work is done. After an error, the handlers do all work.
   * @param prepare gets the events of a claimed batch of any type
   */
  prepareBatches(consumer: string, prepare: BatchPreparation): void {
    if (this.preparations.has(consumer)) throw new Error(`${consumer} already prepares batches`);
    this.preparations.set(consumer, prepare);
  }

  /** Runs all preparations of a batch. @throws the error of one that failed */
  async prepare(events: readonly DomainEvent[]): Promise<void> {
    const results = await Promise.allSettled(
      [...this.preparations.values()].map((prepare) => prepare(events)),
    );
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  handlersOf(type: string): EventHandler[] {
    return [...(this.handlers.get(type)?.values() ?? [])];
  }

  get subscribedTypes(): string[] {
    return [...this.handlers.keys()];
  }

  /** The types that a queue delivers. */
  typesOf(queue: WorkQueue): string[] {
    return this.subscribedTypes.filter((type) => this.queues.get(type) === queue);
  }

  /** Called by the worker. @param wakeUp called when this process has committed an event */
  onNotice(wakeUp: (queue: WorkQueue) => void): void {
    this.wakeUp = wakeUp;
  }
}

/** `pending`: not tried yet, or in progress. `retrying`: an attempt failed. `parked`: no attempt is left. */
const STATES = ['pending', 'retrying', 'parked'] as const;

export const outboxState = either.statement<{
  state: (typeof STATES)[number];
  events: number;
  oldest: number;
}>(
  'outbox.state',
  `SELECT CASE WHEN parked_at IS NOT NULL THEN 'parked' WHEN last_error IS NOT NULL THEN 'retrying' ELSE 'pending' END AS state,
          count(*)::int AS events, extract(epoch FROM now() - min(occurred_at))::float8 AS oldest
     FROM outbox GROUP BY 1`,
  { reach: 'cell' },
);

/** Prometheus metrics of the outbox. */
@Injectable()
export class OutboxMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.metrics.databaseGauges({
      gauges: {
        outbox_events:
          'Events that are not delivered. State: pending, retrying (an attempt failed), parked (no attempt left).',
        outbox_oldest_seconds: 'Age of the oldest event that is not delivered; 0 without one.',
      },
      labelNames: ['state'],
      read: async () => {
        const cells = await this.db.inReachableCells(() => this.db.queryAlways(outboxState, []));
        return STATES.map((state) => {
          const rows = cells.flat().filter((row) => row.state === state);
          const events = rows.reduce((sum, row) => sum + row.events, 0);
          const oldest = Math.max(0, ...rows.map((row) => row.oldest));
          return { labels: { state }, values: { outbox_events: events, outbox_oldest_seconds: oldest } };
        });
      },
    });
  }
}
