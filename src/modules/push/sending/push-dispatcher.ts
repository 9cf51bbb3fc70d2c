import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { outsideRequests } from '../../../platform/current-work/current-work.js';
import { Db } from '../../../platform/database/db.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ClaimLoop } from '../../../platform/jobs/claim-loop.js';
import { Collector } from '../../../platform/workers/collector.js';
import { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import { NOTIFICATIONS_ADDED, NotificationsApi } from '../../notifications/index.js';
import { type PushMessage, PushSender } from '../push-sender.js';
import { PushSubscriptionsRepository } from '../push-subscriptions.repository.js';
import type { PushSubscription } from '../push.schema.js';
import { PushContents, type PushDecision } from './push-contents.js';
import {
  type ClaimedDelivery,
  FIRST_EXAMINATION,
  PushQueue,
  type PushResult,
  retryAfter,
  traitsOf,
} from './push-queue.js';

/** A claim passes over all due deliveries of busy workspaces, so deliveries that end within this time have one together. */
const REFILL_MS = 20;
/** Deliveries of a process that use the database at the same time. */
const DATABASE_RUNS = 4;

/**
 * Deliveries of a process at the same time: in all, of one workspace, of one push service, and of each workspace and push service in one
 * claim. A push service that does not respond holds no more than its share.
 */
const LIMITS = { all: 256, ofTenant: 96, ofService: 128, ofTenantClaim: 32, ofServiceClaim: 48 } as const;
/** Deliveries that are prepared together. */
const PREPARED = 32;

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
  private readonly results = new Collector<PushResult>(this.database, async (tenantId, results) => {
    await this.queue.finish(tenantId, results);
    return [];
  });
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
    for (const [tenantId, own] of Map.groupBy(claimed, ({ tenant_id }) => tenant_id))
      for (let n = 0; n < own.length; n += PREPARED) this.start(tenantId, own.slice(n, n + PREPARED));
    return claimed.length;
  }

  /** Workspaces or push services with more running deliveries than `most`: a further claim could exceed their share. */
  private busy(of: (delivery: ClaimedDelivery) => string, most: number): string[] {
    const groups = Map.groupBy(this.running, ({ delivery }) => of(delivery));
    return [...groups].flatMap(([name, some]) => (some.length > most ? [name] : []));
  }

  /** Leased deliveries of one workspace are prepared together. */
  private start(tenantId: string, deliveries: readonly ClaimedDelivery[]): void {
    const decisions = this.database.run(() => this.contents.decide(tenantId, deliveries));
    for (const delivery of deliveries) {
      const running: Running = { delivery, done: Promise.resolve() };
      this.running.add(running);
      running.done = this.work(running, decisions);
    }
  }

  private async work(
    running: Running,
    decisions: Promise<Map<ClaimedDelivery, PushDecision>>,
  ): Promise<void> {
    const { delivery } = running;
    try {
      await this.follow(delivery, (await decisions).get(delivery) as PushDecision);
    } catch (error) {
      // Its lease ends later, so that it is tried again.
      this.logger.warn({ err: error, subscription: delivery.subscription_id }, 'a push message failed');
    } finally {
      this.running.delete(running);
      this.finished += 1;
      this.loop.schedule(REFILL_MS);
    }
  }

  private async follow(delivery: ClaimedDelivery, decision: PushDecision): Promise<void> {
    const { tenant_id: tenantId, user_id: userId, notification_id: id, attempts } = delivery;
    switch (decision.action) {
      case 'none':
        return;
      case 'unsubscribe':
        return this.unsubscribe(delivery);
      case 'drop':
        return this.record({ delivery, attempt: null, outcome: 'dropped' });
      case 'wait':
        return this.record({
          delivery,
          attempt: null,
          outcome: 'postponed',
          seconds: decision.seconds,
          attempts,
          ...(decision.lifetime !== undefined && { lifetime: decision.lifetime }),
        });
      case 'keep':
        return this.record({ delivery, attempt: null, outcome: 'sent', seconds: decision.seconds });
      case 'withdraw':
        await this.database.run(() => this.queue.withdraw({ tenantId, userId }, [id]));
        return;
      case 'send':
        return this.send(delivery, decision.subscription, decision.message);
    }
  }

  private async send(
    delivery: ClaimedDelivery,
    subscription: PushSubscription,
    message: PushMessage,
  ): Promise<void> {
    const attempt = await this.sender.send(subscription, message, this.abort.signal);
    const { attempts, kind, type } = delivery;
    // The process stops: another one sends it.
    if (!attempt) return this.record({ delivery, attempt, outcome: 'postponed', seconds: 0, attempts });
    if (attempt.outcome === 'gone') return this.unsubscribe(delivery);
    if (attempt.outcome === 'later') {
      const seconds = retryAfter(attempts + 1, attempt.retryAfter);
      return this.record({ delivery, attempt, outcome: 'postponed', seconds, attempts: attempts + 1 });
    }
    if (attempt.outcome === 'rejected' || kind === 'dismissed')
      return this.record({ delivery, attempt, outcome: 'dropped' });
    const seconds = traitsOf(type).examined ?? FIRST_EXAMINATION;
    return this.record({ delivery, attempt, outcome: 'sent', seconds });
  }

  private record(result: PushResult): Promise<void> {
    return this.results.add(result.delivery.tenant_id, result);
  }

  private async unsubscribe(delivery: ClaimedDelivery): Promise<void> {
    const { tenant_id: tenantId, user_id: userId, subscription_id: id } = delivery;
    await this.database.run(() =>
      this.db.tx((tx) => this.subscriptions.delete(tx, { tenantId, userId }, id)),
    );
  }
}

/** Queues messages for new notifications, and withdrawals for those that their recipient has read or that are no longer of use. */
@Injectable()
export class PushNotices implements OnModuleInit {
  private readonly logger = new Logger(PushNotices.name);

  constructor(
    private readonly hooks: TxHooks,
    private readonly notifications: NotificationsApi,
    private readonly queue: PushQueue,
    private readonly dispatcher: PushDispatcher,
  ) {}

  onModuleInit(): void {
    this.hooks.on(NOTIFICATIONS_ADDED, async (tx, added) => {
      if ((await this.queue.add(tx, added)) > 0) tx.afterCommit(() => this.dispatcher.wake());
    });
    this.notifications.onSettled((member) => void outsideRequests(() => this.withdraw(member)));
  }

  /** Withdraws the messages of notifications that are no longer unread. */
  async withdraw(member: MemberKey): Promise<void> {
    try {
      const shown = await this.queue.readShown(member);
      if (shown.length === 0) return;
      const unread = await this.notifications.unreadAmong(member, shown);
      const ended = shown.filter((id) => !unread.has(id));
      if (ended.length > 0 && (await this.queue.withdraw(member, ended)) > 0) this.dispatcher.wake();
    } catch (error) {
      this.logger.warn({ err: error }, 'push messages are not withdrawn');
    }
  }
}
