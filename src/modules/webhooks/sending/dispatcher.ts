import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { forProcess } from '../../../platform/current-work/current-work.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { cutToMinute, isAnonymous } from '../../../platform/events/anonymous-events.js';
import { type DomainEvent, Outbox } from '../../../platform/events/outbox.js';
import { PublicEvents, publicEventTypes } from '../../../platform/events/public-events.js';
import { ClaimLoop, POLL_MS } from '../../../platform/jobs/claim-loop.js';
import { WebhookSender } from '../webhook-sender.js';
import { WebhookAccess, WebhooksRepository } from '../webhooks.repository.js';
import { WebhookContents } from './contents.js';
import { WebhookDisabling } from './disabling.js';
import { QueueRun, type RunServices, SLOW_MS } from './queue-run.js';
import { type ClaimedQueue, LEASE_SECONDS, QueuesRepository, QueueStatements } from './queues.repository.js';

/** Receivers that respond quickly, and those that fail or take long, so that these do not delay the others. */
export const LANES = ['fast', 'slow'] as const;
export type Lane = (typeof LANES)[number];

/** Queues of a process at the same time: in all, of one workspace, and of one workspace in one claim. */
export const LIMITS = {
  fast: { all: 512, ofTenant: 128, ofClaim: 64 },
  slow: { all: 512, ofTenant: 32, ofClaim: 8 },
} as const;

/** What the runs of both lanes take, because those of the fast one move: a process and a workspace with more get no further ones. */
const BOTH = {
  /** Runs that hang have a socket each. The receivers of very many workspaces may begin to hang at once. */
  runs: 4_096,
  runsOfTenant: 384,
  /** Characters of contents in memory. */
  length: 64 * 1024 * 1024,
  lengthOfTenant: 16 * 1024 * 1024,
} as const;

interface Placed {
  lane: Lane;
  run: { readonly queue: { readonly tenant_id: string }; readonly length: number };
}

/** The places that a lane has left, and the workspaces that have their share. */
export function placesOf(running: ReadonlySet<Placed>, lane: Lane): { left: number; busy: Set<string> } {
  const { all, ofTenant } = LIMITS[lane];
  const busy = new Set<string>();
  let left: number = all;
  let total = 0;
  for (const [tenant, runs] of Map.groupBy(running, ({ run }) => run.queue.tenant_id)) {
    const own = runs.filter((each) => each.lane === lane).length;
    const length = runs.reduce((sum, { run }) => sum + run.length, 0);
    if (own >= ofTenant || runs.length >= BOTH.runsOfTenant || length >= BOTH.lengthOfTenant)
      busy.add(tenant);
    left -= own;
    total += length;
  }
  return { left: total >= BOTH.length ? 0 : Math.min(left, BOTH.runs - running.size), busy };
}

const RENEWALS_PER_LEASE = 3;
/** Seconds after which a queue is tried again whose run has failed in this process. */
const ERROR_PAUSE = 5;

/** How often runs are examined. */
const WATCH_MS = 50;
/** Where a fast receiver finds no place, those that take longer than this give theirs. */
const EAGER_MS = 50;
/** With more runs in the process, none gives its place early, so that receivers that hang take fewer sockets. */
const EAGER_RUNS = 2_000;

interface Running {
  run: QueueRun;
  cell: string;
  /** A run moves to the slow ones when its receiver does not respond in time. */
  lane: Lane;
  done: Promise<void>;
}

/**
 * Sends the deliveries of webhooks. Any number of processes share the queues: one leases a queue at a time, so that the deliveries of a
 * webhook have the order of their events, and a killed process loses none.
 */
@Injectable()
export class WebhookDispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(WebhookDispatcher.name);
  private readonly statements: QueueStatements;
  private readonly services: RunServices;
  private readonly running = new Set<Running>();
  private heartbeat: NodeJS.Timeout | undefined;
  private watch: NodeJS.Timeout | undefined;
  private readonly loop = new ClaimLoop(
    () => this.claimAll(),
    (error) => this.logger.warn({ err: error }, 'queues of webhooks cannot be leased'),
  );

  constructor(
    private readonly db: Db,
    private readonly queues: QueuesRepository,
    webhooks: WebhooksRepository,
    access: WebhookAccess,
    events: PublicEvents,
    sender: WebhookSender,
    disabling: WebhookDisabling,
  ) {
    this.statements = new QueueStatements(queues, webhooks);
    const contents = new WebhookContents(events, this.statements.database);
    this.services = { statements: this.statements, access, contents, sender, disabling };
  }

  onApplicationBootstrap(): void {
    this.loop.start();
    this.heartbeat = setInterval(() => void this.renew(), (LEASE_SECONDS * 1000) / RENEWALS_PER_LEASE);
    this.heartbeat.unref();
    this.watch = setInterval(() => this.moveSlow(), WATCH_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.heartbeat);
    clearInterval(this.watch);
    await this.loop.stop();
    for (const { run } of this.running) run.stop();
    await this.ended();
  }

  /** Starts a delivery after the commit, because the transaction has added deliveries. */
  noticeAfter(tx: Tx): void {
    tx.afterCommit(() => this.loop.schedule(0));
  }

  /** Sends everything that is ready, for tests. */
  async drain(): Promise<void> {
    for (;;) {
      await this.loop.fill();
      if (this.running.size === 0) return;
      await this.ended();
    }
  }

  private async ended(): Promise<void> {
    await Promise.all([...this.running].map(({ done }) => done));
  }

  /** Leases what is due until there is nothing, or no room. */
  private async claimAll(): Promise<void> {
    for (const cell of this.db.cells)
      await this.db.inCell(cell, async () => {
        for (const lane of LANES) while ((await this.claim(cell, lane)) > 0);
      });
  }

  /** @returns the number of leased queues */
  private async claim(cell: string, lane: Lane): Promise<number> {
    const { left, busy } = placesOf(this.running, lane);
    if (this.loop.isStopped || left <= 0) return 0;
    const options = { isSlow: lane === 'slow', busy: [...busy], perTenant: LIMITS[lane].ofClaim };
    const claimed = await this.queues.claim(left, options);
    for (const queue of claimed) this.start(cell, lane, queue);
    return claimed.length;
  }

  /**
   * Runs whose receivers take long leave the places of the fast ones; sooner where no place is free. They keep no contents that follow
   * the one in flight.
   */
  private moveSlow(): void {
    if (this.running.size === 0) return;
    const { left, busy } = placesOf(this.running, 'fast');
    let eager = EAGER_RUNS - this.running.size;
    for (const running of this.running) {
      const { run, lane } = running;
      const isEager = lane === 'fast' && eager > 0 && (left <= 0 || busy.has(run.queue.tenant_id));
      if (run.waitsFor < (isEager ? EAGER_MS : SLOW_MS)) continue;
      run.forget();
      if (lane === 'slow') continue;
      running.lane = 'slow';
      eager -= 1;
      this.loop.schedule(0);
    }
  }

  private start(cell: string, lane: Lane, queue: ClaimedQueue): void {
    const run = new QueueRun(this.services, queue);
    const running: Running = { run, cell, lane, done: Promise.resolve() };
    this.running.add(running);
    running.done = this.work(running);
  }

  private async work(running: Running): Promise<void> {
    const { run } = running;
    let ready: number | null = null;
    try {
      ready = await run.run();
    } catch (error) {
      this.logger.warn({ err: error, webhook: run.queue.webhook_id }, 'deliveries of a webhook failed');
      const { tenant_id: tenantId, ...queue } = run.queue;
      await this.statements
        .release(tenantId, { ...queue, pause: ERROR_PAUSE, is_slow: true })
        .catch((failure: unknown) => this.logger.warn({ err: failure }, 'a lease of a webhook stays'));
    } finally {
      this.running.delete(running);
      // There is room for another queue, and this one may have more.
      this.loop.schedule(0);
      if (ready !== null)
        setTimeout(() => this.loop.schedule(0), Math.min(ready, POLL_MS / 1000) * 1000).unref();
    }
  }

  private async renew(): Promise<void> {
    const byCell = Map.groupBy(this.running, ({ cell }) => cell);
    for (const [cell, runs] of byCell)
      await forProcess(() =>
        this.db.inCell(cell, () => this.queues.renew(runs.map(({ run }) => run.queue))),
      ).catch((error: unknown) => this.logger.warn({ err: error }, 'leases of webhooks are not renewed'));
  }
}

/** Events that a batch has stored, until their handlers run: more than one batch of the outbox. */
const MAX_STORED = 1_000;

// One row for each webhook and event; an event with a recipient is for the own webhooks of this user. A filter by an attribute that the
// facts lack is applied when the event is sent. Whether a webhook gets an event depends on the time of the event, since the outbox delivers it
// later: an inactive webhook keeps those from before its deactivation. The queues are locked in the order of their keys; each is due at
// once, unless it rests after a failure.
const fanOut = workspace.statement<{ count: number }>(
  'webhooks.fan_out',
  `WITH events AS (
     SELECT * FROM jsonb_to_recordset($1) AS event (tenant_id uuid, id uuid, type text, facts jsonb, occurred_at timestamptz, shown_at timestamptz, recipient uuid)),
   added AS (
     INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, event_type, facts, occurred_at, due_at)
     SELECT event.tenant_id, webhook.id, event.id, event.type, event.facts, event.shown_at, event.occurred_at
       FROM events event
       JOIN webhooks webhook
         ON webhook.tenant_id = event.tenant_id AND event.type = ANY (webhook.event_types) AND event.occurred_at >= webhook.created_at
        AND CASE WHEN webhook.active
                 THEN NOT coalesce(event.occurred_at >= webhook.inactive_from AND event.occurred_at < webhook.inactive_until, false)
                 ELSE event.occurred_at < webhook.inactive_from END
        AND (event.recipient IS NULL OR webhook.scope = 'user' AND webhook.owner_id = event.recipient)
        AND NOT EXISTS (
          SELECT FROM jsonb_each_text(webhook.filter) AS wanted
           WHERE event.facts ? wanted.key AND event.facts->>wanted.key <> wanted.value)
     ON CONFLICT DO NOTHING RETURNING tenant_id, webhook_id),
   queues AS MATERIALIZED (
     SELECT queue.tenant_id, queue.webhook_id FROM webhook_queues queue
      WHERE (queue.tenant_id, queue.webhook_id) IN (SELECT tenant_id, webhook_id FROM added)
      ORDER BY queue.tenant_id, queue.webhook_id FOR UPDATE),
   woken AS (
     UPDATE webhook_queues queue
        SET due_at = least(queue.due_at, now()), ready_at = greatest(least(queue.due_at, now()), queue.held_until)
       FROM queues WHERE queue.tenant_id = queues.tenant_id AND queue.webhook_id = queues.webhook_id)
   SELECT count(*)::int AS count FROM added`,
  { reach: 'cell' },
);

/** Stores the deliveries of events: consumes all public events of the outbox. */
@Injectable()
export class WebhookFanOut implements OnApplicationBootstrap {
  private readonly stored = new LRUCache<string, true>({ max: MAX_STORED });

  constructor(
    private readonly events: PublicEvents,
    private readonly outbox: Outbox,
    private readonly dispatcher: WebhookDispatcher,
    private readonly db: Db,
  ) {}

  /** Domains register their events in `onModuleInit`. */
  onApplicationBootstrap(): void {
    for (const { type } of publicEventTypes())
      this.outbox.subscribe(type, 'webhooks', async (event) => {
        if (!this.stored.delete(event.id)) await this.store([event]);
      });
    this.outbox.prepareBatches('webhooks', (events) => this.prepare(events));
  }

  private async prepare(events: readonly DomainEvent[]): Promise<void> {
    const known = events.filter(({ type }) => this.events.find(type));
    if (known.length === 0) return;
    await this.store(known);
    for (const { id } of known) this.stored.set(id, true);
  }

  private async store(events: readonly DomainEvent[]): Promise<void> {
    const rows = events.flatMap((event) => {
      const type = this.events.find(event.type);
      if (!type) return [];
      const { tenantId: tenant_id, id, occurredAt: occurred_at } = event;
      const shown_at = isAnonymous(event.payload) ? cutToMinute(occurred_at) : occurred_at;
      const facts = this.events.factsOf(type, event.payload);
      const { owner } = type.subject;
      const recipient = owner === undefined ? null : facts[owner];
      return [{ tenant_id, id, type: type.type, facts, occurred_at, shown_at, recipient }];
    });
    await this.db.single(async (tx) => {
      const [added] = await tx.query(fanOut, [JSON.stringify(rows)]);
      if (added && added.count > 0) this.dispatcher.noticeAfter(tx);
    });
  }
}
