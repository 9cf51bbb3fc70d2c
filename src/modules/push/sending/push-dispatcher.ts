import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { outsideRequests } from '../../../platform/current-work/current-work.js';
import { Db } from '../../../platform/database/db.js';
import { ClaimLoop } from '../../../platform/jobs/claim-loop.js';
import { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import type { PushSubscription } from '../push.entity.js';
import { PushSender, type PushAttempt } from '../push-sender.js';
import { PushSubscriptionsRepository } from '../push-subscriptions.repository.js';
import { PushContents, type PushDecision } from './push-contents.js';
import { type ClaimedDelivery, PushQueue } from './push-queue.js';
import { FIRST_EXAMINATION, retryAfter, traitsOf } from './push-traits.js';

/** A claim passes over all due deliveries of busy workspaces, so deliveries that end within this time have one together. */
const REFILL_MS = 20;
/** Deliveries of a process that use the database at the same time. */
const DATABASE_RUNS = 4;

/**
 * Deliveries of a process at the same time: in all, of one workspace, of one push service, and of each workspace and push service in one
 * claim. A push service that does not respond holds no more than its share.
 */
const LIMITS = { all: 128, ofTenant: 24, ofService: 48, ofTenantClaim: 8, ofServiceClaim: 16 } as const;

interface Running {
  delivery: ClaimedDelivery;
  done: Promise<void>;
}

/**
 * Sends push messages. Any number of processes share the queue: a delivery is leased to one at a time, and those of a killed process are
 * sent after their lease. A device may get a message twice; its topic and its id are the same.
 */
@Injectable()
export class PushDispatcher implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(PushDispatcher.name);
  private readonly database = new ConcurrencyLimiter(DATABASE_RUNS, Infinity);
  private readonly running = new Set<Running>();
  private readonly abort = new AbortController();
  private readonly loop = new ClaimLoop(
    () => this.claimAll(),
    (error) => this.logger.warn({ err: error }, 'push messages cannot be leased'),
  );
  /** Deliveries that this process has ended. */
  private finished = 0;

  constructor(
    private readonly db: Db,
    private readonly queue: PushQueue,
    private readonly contents: PushContents,
    private readonly sender: PushSender,
    private readonly subscriptions: PushSubscriptionsRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.abort.abort();
    await this.loop.stop();
    await this.ended();
  }

  /** Messages are due. */
  wake(): void {
    outsideRequests(() => this.loop.schedule(0));
  }

  /** Sends everything that is due, for tests. */
  async drain(): Promise<void> {
    for (let before = -1; before !== this.finished;) {
      before = this.finished;
      await this.loop.fill();
      // A delivery that has ended may have made another one due.
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
        while ((await this.claim()) > 0);
      });
  }

  /** @returns the number of leased deliveries */
  private async claim(): Promise<number> {
    const room = LIMITS.all - this.running.size;
    if (this.abort.signal.aborted || room <= 0) return 0;
    const claimed = await this.queue.claim(room, {
      busyTenants: this.busy(({ tenant_id }) => tenant_id, LIMITS.ofTenant - LIMITS.ofTenantClaim),
      busyServices: this.busy(({ service }) => service, LIMITS.ofService - LIMITS.ofServiceClaim),
      perTenant: LIMITS.ofTenantClaim,
      perService: LIMITS.ofServiceClaim,
    });
    for (const delivery of claimed) {
      const running: Running = { delivery, done: Promise.resolve() };
      this.running.add(running);
      running.done = this.work(running);
    }
    return claimed.length;
  }

  /** Workspaces or push services with more running deliveries than `most`: a further claim could exceed their share. */
  private busy(of: (delivery: ClaimedDelivery) => string, most: number): string[] {
    const groups = Map.groupBy(this.running, ({ delivery }) => of(delivery));
    return [...groups].flatMap(([name, some]) => (some.length > most ? [name] : []));
  }

  private async work(running: Running): Promise<void> {
    const { delivery } = running;
    try {
      await (delivery.state === 'sent' ? this.examine(delivery) : this.deliver(delivery));
    } catch (error) {
      // Its lease ends later, so that it is tried again.
      this.logger.warn({ err: error, subscription: delivery.subscription_id }, 'a push message failed');
    } finally {
      this.running.delete(running);
      this.finished += 1;
      this.loop.schedule(REFILL_MS);
    }
  }

  /** Withdraws a message that a device shows, if its notification is no longer of use. */
  private async examine(delivery: ClaimedDelivery): Promise<void> {
    await this.database.run(async () => {
      const { examined } = traitsOf(delivery.type);
      const rings = examined !== undefined;
      const isOver = rings && delivery.expires_at <= new Date();
      if (!isOver && (await this.contents.current(delivery)))
        return this.queue.sent(delivery, examined ?? null);
      const { tenant_id: tenantId, user_id: userId, notification_id: id } = delivery;
      await this.queue.withdraw({ tenantId, userId }, [id]);
    });
  }

  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const prepared = await this.database.run(() => this.prepare(delivery));
    if (!prepared) return;
    const { subscription, decision } = prepared;
    if (decision.action !== 'send') return this.database.run(() => this.settle(delivery, decision));
    const attempt = await this.sender.send(subscription, decision.message, this.abort.signal);
    // The process stops: another one sends it.
    if (!attempt) return this.queue.postpone(delivery, 0, delivery.attempts);
    await this.database.run(() => this.record(delivery, subscription, attempt));
  }

  /** Null: the subscription was deleted, and its deliveries with it. */
  private async prepare(
    delivery: ClaimedDelivery,
  ): Promise<{ subscription: PushSubscription; decision: PushDecision } | null> {
    const { tenant_id: tenantId, user_id: userId, subscription_id: id } = delivery;
    const subscription = await this.subscriptions.find({ tenantId, userId }, id);
    if (!subscription) return null;
    return { subscription, decision: await this.contents.decide(delivery, subscription) };
  }

  private async settle(
    delivery: ClaimedDelivery,
    decision: Exclude<PushDecision, { action: 'send' }>,
  ): Promise<void> {
    if (decision.action === 'unsubscribe') return this.unsubscribe(delivery);
    if (decision.action === 'drop') return this.queue.drop(delivery);
    await this.queue.postpone(delivery, decision.seconds, delivery.attempts);
  }

  private async record(
    delivery: ClaimedDelivery,
    subscription: PushSubscription,
    attempt: PushAttempt,
  ): Promise<void> {
    if (attempt.outcome === 'gone') return this.unsubscribe(delivery);
    await this.subscriptions.record(subscription, attempt);
    if (attempt.outcome === 'later') {
      const attempts = delivery.attempts + 1;
      await this.queue.postpone(delivery, retryAfter(attempts, attempt.retryAfter), attempts);
    } else if (attempt.outcome === 'rejected' || delivery.kind === 'dismissed')
      await this.queue.drop(delivery);
    else await this.queue.sent(delivery, traitsOf(delivery.type).examined ?? FIRST_EXAMINATION);
  }

  private async unsubscribe(delivery: ClaimedDelivery): Promise<void> {
    const { tenant_id: tenantId, user_id: userId, subscription_id: id } = delivery;
    await this.db.tx((tx) => this.subscriptions.delete(tx, { tenantId, userId }, id));
  }
}
