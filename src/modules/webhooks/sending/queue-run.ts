import type { RequestContext } from '../../../platform/context/request-context.js';
import type { WebhookAccess } from '../webhook-access.js';
import type { DisabledReason, Webhook } from '../webhook.entity.js';
import type { Attempt, WebhookMessage, WebhookSender } from '../webhook-sender.js';
import type { WebhooksRepository } from '../webhooks.repository.js';
import type { WebhookContents } from './contents.js';
import type { WebhookDisabling } from './disabling.js';
import type { ClaimedQueue, DeliveryResult, DueDelivery, QueuesRepository } from './queues.repository.js';
import { isGivenUp, pauseAfter, retryAfter } from './retries.js';

/** Deliveries that are read at once. */
const BATCH = 20;
/** A queue with more deliveries gives its place to another one after this time. */
const TURN_MS = 10_000;
/** Contents older than this are read again: the owner may have lost access. */
const FRESH_MS = 1_000;
/** A receiver that takes longer is served apart from the fast ones. */
const SLOW_MS = 1_000;
/** Seconds after which a queue is examined again whose next events are still in the outbox. */
const HELD_SECONDS = 0.2;

export interface RunServices {
  queues: QueuesRepository;
  webhooks: WebhooksRepository;
  access: WebhookAccess;
  contents: WebhookContents;
  sender: WebhookSender;
  disabling: WebhookDisabling;
}

/** Sends the deliveries of one leased queue, one after the other. */
export class QueueRun {
  private readonly abort = new AbortController();
  private failures: number;
  private failingSince: Date | null;
  private isSlow = false;

  /** @param onSlow called when an attempt takes long */
  constructor(
    private readonly services: RunServices,
    readonly queue: ClaimedQueue,
    private readonly onSlow: () => void,
  ) {
    this.failures = queue.failures;
    this.failingSince = queue.failing_since;
  }

  /** Ends the attempt in flight, which is repeated later, and the run. */
  stop(): void {
    this.abort.abort();
  }

  /**
   * Works until the queue is empty, an attempt fails, or the turn ends; then ends the lease.
   * @returns seconds until the queue is ready again; null: it has no pending deliveries
   */
  async run(): Promise<number | null> {
    const ends = Date.now() + TURN_MS;
    let pause = 0;
    for (let more = true; more && !this.abort.signal.aborted && Date.now() < ends;) {
      const webhook = await this.services.webhooks.find(this.queue.tenant_id, this.queue.webhook_id);
      if (!webhook?.active) break;
      const owner = await this.ownerOf(webhook);
      if (typeof owner === 'string') {
        await this.services.disabling.disable(webhook, owner);
        break;
      }
      const batch = await this.services.queues.due(this.queue, webhook.eventTypes, BATCH);
      if (batch.length === 0) pause = HELD_SECONDS;
      more = (await this.send(webhook, owner, batch)) && batch.length === BATCH;
    }
    if (this.failures > 0) pause = pauseAfter(this.failures);
    const isSlow = this.isSlow || this.failures > 0;
    return this.services.queues.release(this.queue, { pause, failures: this.failures, isSlow });
  }

  /** The owner as the reader of objects, or why there are no more deliveries. */
  private async ownerOf(webhook: Webhook): Promise<RequestContext | DisabledReason> {
    const { tenantId, ownerId: userId } = webhook;
    const role = await this.services.queues.roleOf(tenantId, userId);
    if (role === undefined) return 'owner_inactive';
    if (!(await this.services.access.isAllowed(webhook))) return 'permission_lost';
    return { tenantId, userId, role, sessionId: null, requestId: '' };
  }

  /** @returns whether all have been sent */
  private async send(
    webhook: Webhook,
    owner: RequestContext,
    batch: readonly DueDelivery[],
  ): Promise<boolean> {
    const messages = await Promise.all(
      batch.map((delivery) => this.services.contents.messageOf(owner, webhook.filter, delivery)),
    );
    const freshUntil = Date.now() + FRESH_MS;
    const results: DeliveryResult[] = [];
    let reason: DisabledReason | null = null;
    try {
      for (const [n, delivery] of batch.entries()) {
        if (n > 0 && Date.now() > freshUntil) break;
        const message = messages[n] ?? null;
        const attempt = message && (await this.attempt(webhook, message));
        if (message && !attempt) return false;
        results.push(this.resultOf(delivery, attempt));
        if (attempt && !attempt.ok) {
          if (attempt.statusCode === 410) reason = 'gone';
          else if (isGivenUp(this.failingSince)) reason = 'failing';
          break;
        }
      }
    } finally {
      await this.services.queues.record(this.queue, results);
    }
    if (reason) await this.services.disabling.disable(webhook, reason);
    // A part that is no longer fresh is read again.
    return this.failures === 0;
  }

  /** Null: the run was stopped. */
  private async attempt(webhook: Webhook, message: WebhookMessage): Promise<Attempt | null> {
    const timer = setTimeout(this.onSlow, SLOW_MS);
    try {
      return await this.services.sender.send(webhook, message, this.abort.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  private resultOf({ id, attempts }: DueDelivery, attempt: Attempt | null): DeliveryResult {
    if (!attempt) return { id, state: 'dropped', attempt, retry: 0 };
    this.isSlow = attempt.latencyMs > SLOW_MS;
    if (attempt.ok) {
      this.failures = 0;
      this.failingSince = null;
      return { id, state: 'delivered', attempt, retry: 0 };
    }
    this.failures += 1;
    this.failingSince ??= new Date();
    const retry = retryAfter(attempts + 1);
    return { id, state: retry === null ? 'failed' : 'pending', attempt, retry: retry ?? 0 };
  }
}
