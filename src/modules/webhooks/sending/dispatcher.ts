import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { forProcess } from '../../../platform/current-work/current-work.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PublicEvents } from '../../../platform/events/public-events.js';
import { ClaimLoop, POLL_MS } from '../../../platform/jobs/claim-loop.js';
import { WebhookAccess } from '../webhook-access.js';
import { WebhookSender } from '../webhook-sender.js';
import { WebhooksRepository } from '../webhooks.repository.js';
import { WebhookContents } from './contents.js';
import { WebhookDisabling } from './disabling.js';
import { LANES, type Lane, LIMITS, placesOf } from './places.js';
import { QueueRun, type RunServices, SLOW_MS } from './queue-run.js';
import { QueueStatements } from './queue-statements.js';
import { type ClaimedQueue, LEASE_SECONDS, QueuesRepository } from './queues.repository.js';

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
