import type { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { WebhookAccess } from '../webhook-access.js';
import type { DisabledReason, Webhook } from '../webhook.entity.js';
import type { Attempt, WebhookMessage, WebhookSender } from '../webhook-sender.js';
import type { WebhooksRepository } from '../webhooks.repository.js';
import type { WebhookContents } from './contents.js';
import type { WebhookDisabling } from './disabling.js';
import type { ClaimedQueue, DeliveryResult, DueDelivery, QueuesRepository } from './queues.repository.js';
import { FIRST_BATCH, FRESH_MS, nextBatch } from './batches.js';
import { isGivenUp, pauseAfter, retryAfter } from './retries.js';

/** A queue with more deliveries gives its place to another one after this time. */
const TURN_MS = 10_000;
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
  /** Of the work in the database, so that many queues leave its connections to requests. */
  database: ConcurrencyLimiter;
}

/** Deliveries that are due. */
interface Due {
  webhook: Webhook;
  owner: RequestContext;
  batch: readonly DueDelivery[];
}

/** Deliveries that are ready to be sent. */
interface Prepared extends Due {
  /** Null for a delivery that is dropped. */
  messages: readonly (WebhookMessage | null)[];
}

/** Sends the deliveries of one leased queue, one after the other. */
export class QueueRun {
  private readonly abort = new AbortController();
  private failures: number;
  private failingSince: Date | null;
  private isSlow = false;
  /** Deliveries that are read at once. */
  private batchSize = FIRST_BATCH;

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
    const { database, queues } = this.services;
    const ends = Date.now() + TURN_MS;
    let pause = 0;
    for (let more = true; more && !this.abort.signal.aborted && Date.now() < ends;) {
      const due = await database.run(() => this.due());
      if (!due) break;
      const prepared = await this.prepared(due);
      if (prepared.batch.length === 0) pause = HELD_SECONDS;
      const wasFull = prepared.batch.length === this.batchSize;
      more = (await this.send(prepared)) && wasFull;
    }
    const { failures } = this;
    if (failures > 0) pause = pauseAfter(failures);
    const isSlow = this.isSlow || failures > 0;
    return database.run(() => queues.release(this.queue, { pause, failures, isSlow }));
  }

  /** Reads the next deliveries. Null: the webhook is inactive. */
  private async due(): Promise<Due | null> {
    const { webhooks, queues, disabling } = this.services;
    const webhook = await webhooks.find(this.queue.tenant_id, this.queue.webhook_id);
    if (!webhook?.active) return null;
    const owner = await this.ownerOf(webhook);
    if (typeof owner === 'string') {
      await disabling.disable(webhook, owner);
      return null;
    }
    return { webhook, owner, batch: await queues.due(this.queue, webhook.eventTypes, this.batchSize) };
  }

  /** Adds what the owner may read now. */
  private async prepared(due: Due): Promise<Prepared> {
    const { database, contents } = this.services;
    const messages = await contents.messagesOf(due.owner, due.webhook.filter, due.batch, {
      local: (read) => database.run(read),
      remote: (read) => this.noticed(read),
    });
    return { ...due, messages };
  }

  /** The owner as the reader of objects, or why there are no more deliveries. */
  private async ownerOf(webhook: Webhook): Promise<RequestContext | DisabledReason> {
    const { tenantId, ownerId: userId } = webhook;
    const role = await this.services.queues.roleOf(tenantId, userId);
    if (role === undefined) return 'owner_inactive';
    if (!(await this.services.access.isAllowed(webhook))) return 'permission_lost';
    return { tenantId, userId, role, sessionId: null, requestId: '' };
  }

  /** @returns whether the queue may continue */
  private async send({ webhook, batch, messages }: Prepared): Promise<boolean> {
    const { database, queues, disabling } = this.services;
    const began = Date.now();
    const results: DeliveryResult[] = [];
    let reason: DisabledReason | null = null;
    try {
      for (const [n, delivery] of batch.entries()) {
        if (n > 0 && Date.now() > began + FRESH_MS) break;
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
      await database.run(() => queues.record(this.queue, results));
    }
    this.batchSize = nextBatch(this.batchSize, {
      read: batch.length,
      sent: results.length,
      ms: Date.now() - began,
      length: messages.reduce((sum, message) => sum + (message?.body.length ?? 0), 0),
    });
    if (reason) await disabling.disable(webhook, reason);
    // A part that is no longer fresh is read again.
    return this.failures === 0;
  }

  /** Null: the run was stopped. */
  private async attempt(webhook: Webhook, message: WebhookMessage): Promise<Attempt | null> {
    return this.noticed(() => this.services.sender.send(webhook, message, this.abort.signal));
  }

  /** Reports that an exchange with another server takes long. */
  private async noticed<T>(exchange: () => Promise<T>): Promise<T> {
    const timer = setTimeout(this.onSlow, SLOW_MS);
    try {
      return await exchange();
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
