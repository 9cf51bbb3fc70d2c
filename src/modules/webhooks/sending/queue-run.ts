import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Attempt, WebhookMessage, WebhookSender } from '../webhook-sender.js';
import type { WebhookAccess } from '../webhooks.repository.js';
import type { DisabledReason, Webhook } from '../webhooks.schema.js';
import {
  type BatchContents,
  type Content,
  FIRST_BATCH,
  FRESH_MS,
  nextBatch,
  type WebhookContents,
} from './contents.js';
import type { WebhookDisabling } from './disabling.js';
import type {
  ClaimedQueue,
  DeliveryResult,
  DueDelivery,
  NextDeliveries,
  QueueStatements,
} from './queues.repository.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds between the attempts of a delivery: three days in all. */
const DELAYS = [
  5,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  18 * HOUR,
  22 * HOUR,
];
/** Part of a delay by which it varies, so that receivers do not get all repetitions at once. */
const JITTER = 0.1;
/** The longest rest of a queue whose receiver fails. */
const MAX_PAUSE = 5 * MINUTE;
/** A webhook without a success for so long is deactivated. */
const FAILING_MS = 71 * HOUR * 1000;

const varied = (seconds: number, random: () => number): number =>
  seconds * (1 - JITTER + 2 * JITTER * random());

/** Seconds until the next attempt, after so many failed ones; null: no attempt is left. */
export function retryAfter(attempts: number, random: () => number = Math.random): number | null {
  const delay = DELAYS[attempts - 1];
  return delay === undefined ? null : varied(delay, random);
}

/**
 * Seconds for which a queue rests after so many failures without a success in between: a receiver that is down gets few requests, one
 * that rejects a single event gets the others soon.
 */
export const pauseAfter = (failures: number, random: () => number = Math.random): number =>
  failures === 0 ? 0 : varied(Math.min(2 ** (failures - 1), MAX_PAUSE), random);

/** Whether a webhook has failed for so long that it is deactivated. @param since the first failure after the last success */
export const isGivenUp = (since: Date | null, now = Date.now()): boolean =>
  since !== null && now - since.getTime() >= FAILING_MS;

/** A queue with more deliveries gives its place to another one after this time. */
const TURN_MS = 10_000;
/** A receiver that takes longer is served apart from the fast ones. */
export const SLOW_MS = 1_000;
/** Seconds after which a queue is examined again whose next events are still in the outbox. */
const HELD_SECONDS = 0.2;

export interface RunServices {
  statements: QueueStatements;
  access: WebhookAccess;
  contents: WebhookContents;
  sender: WebhookSender;
  disabling: WebhookDisabling;
}

/** Deliveries that are due. */
interface Due {
  webhook: Webhook;
  owner: RequestContext;
  batch: readonly DueDelivery[];
}

/** Deliveries that are ready to be sent. */
type Prepared = Due & BatchContents;

/** Sends the deliveries of one leased queue, one after the other. */
export class QueueRun {
  private readonly abort = new AbortController();
  private failures: number;
  private failingSince: Date | null;
  private isSlow = false;
  /** Start of the exchange in flight with another server. */
  private since = Infinity;
  /** Deliveries that are read at once. */
  private batchSize: number;
  private contents: (Content | null)[] = [];
  /** Characters of the contents in memory, and of the one in flight. */
  private held = 0;
  private inFlight = 0;

  constructor(
    private readonly services: RunServices,
    readonly queue: ClaimedQueue,
  ) {
    this.failures = queue.failures;
    this.failingSince = queue.failing_since;
    this.batchSize = queue.failures > 0 ? 1 : FIRST_BATCH;
  }

  /** Milliseconds that the exchange in flight takes so far; negative: there is none. */
  get waitsFor(): number {
    return Date.now() - this.since;
  }

  /** Frees the contents that follow the one in flight: they are read again. */
  forget(): void {
    this.contents.length = 0;
    this.held = this.inFlight;
  }

  /** Characters of the contents in memory. */
  get length(): number {
    return this.held;
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
    const { statements } = this.services;
    const { tenant_id: tenantId, webhook_id, claims } = this.queue;
    const ends = Date.now() + TURN_MS;
    let pause = 0;
    for (let more = true; more && !this.abort.signal.aborted && Date.now() < ends;) {
      const due = await this.due();
      if (!due) break;
      const prepared = await this.prepared(due);
      const { batch, contents } = prepared;
      const wasFull = batch.length === this.batchSize || contents.length < batch.length;
      if (batch.length === 0) pause = HELD_SECONDS;
      more = (await this.send(prepared)) && wasFull;
    }
    const { failures } = this;
    if (failures > 0) pause = pauseAfter(failures);
    const is_slow = this.isSlow || failures > 0;
    return statements.release(tenantId, { webhook_id, claims, pause, failures, is_slow });
  }

  /** Reads the next deliveries. Null means that the webhook is inactive. */
  private async due(): Promise<Due | null> {
    const { statements, disabling } = this.services;
    const next = await statements.next(this.queue.tenant_id, this.queue.webhook_id, this.batchSize);
    if (!next) return null;
    const { webhook, batch } = next;
    const owner = await this.ownerOf(next);
    if (typeof owner !== 'string') return { webhook, owner, batch };
    await disabling.disable(webhook, owner);
    return null;
  }

  /** Adds what the owner may read now. */
  private async prepared(due: Due): Promise<Prepared> {
    const found = await this.services.contents.messagesOf(due.owner, due.webhook.filter, due.batch, (read) =>
      this.timed(read),
    );
    this.contents = found.contents;
    return { ...due, ...found };
  }

  /** The owner as the reader of objects, or why there are no more deliveries. */
  private async ownerOf({ webhook, role }: NextDeliveries): Promise<RequestContext | DisabledReason> {
    const { tenant_id: tenantId, owner_id: userId } = webhook;
    if (role === undefined) return 'owner_inactive';
    if (!(await this.services.access.isAllowed(webhook))) return 'permission_lost';
    return { tenantId, userId, role, sessionId: null, requestId: '' };
  }

  /** @returns whether the queue may continue */
  private async send({ webhook, batch, contents, since }: Prepared): Promise<boolean> {
    const { statements, disabling } = this.services;
    const read = contents.length;
    const results: DeliveryResult[] = [];
    const length = contents.reduce((sum, content) => sum + (content?.length ?? 0), 0);
    this.held = length;
    let reason: DisabledReason | null = null;
    let hasFailed = false;
    try {
      for (const [n, delivery] of batch.entries()) {
        if (n > 0 && Date.now() > since + FRESH_MS) break;
        const content = contents[n];
        // The delivery is too long for this batch, or its event is forgotten.
        if (content === undefined) break;
        this.inFlight = content?.length ?? 0;
        const attempt = content && (await this.attempt(webhook, { id: delivery.id, body: content.body() }));
        if (content && !attempt) return false;
        results.push(this.resultOf(delivery, attempt));
        if (attempt && !attempt.ok) {
          hasFailed = true;
          if (attempt.statusCode === 410) reason = 'gone';
          else if (isGivenUp(this.failingSince)) reason = 'failing';
          break;
        }
      }
    } finally {
      this.inFlight = 0;
      this.forget();
      await statements.record(this.queue.tenant_id, results);
    }
    this.batchSize = nextBatch(this.batchSize, {
      read,
      sent: results.length,
      ms: Date.now() - since,
      length,
    });
    if (reason) await disabling.disable(webhook, reason);
    // A part that is no longer fresh is read again.
    return !hasFailed;
  }

  /** Null means that the run was stopped. */
  private async attempt(webhook: Webhook, message: WebhookMessage): Promise<Attempt | null> {
    return this.timed(() => this.services.sender.send(webhook, message, this.abort.signal));
  }

  /** Takes the time of an exchange with another server. */
  private async timed<T>(exchange: () => Promise<T>): Promise<T> {
    this.since = Date.now();
    try {
      return await exchange();
    } finally {
      this.since = Infinity;
    }
  }

  private resultOf({ id, attempts }: DueDelivery, attempt: Attempt | null): DeliveryResult {
    const webhookId = this.queue.webhook_id;
    if (!attempt) return { webhookId, id, state: 'dropped', attempt, retry: 0 };
    this.isSlow = attempt.latencyMs > SLOW_MS;
    if (attempt.ok) {
      this.failures = 0;
      this.failingSince = null;
      return { webhookId, id, state: 'delivered', attempt, retry: 0 };
    }
    this.failures += 1;
    this.failingSince ??= new Date();
    const retry = retryAfter(attempts + 1);
    return { webhookId, id, state: retry === null ? 'failed' : 'pending', attempt, retry: retry ?? 0 };
  }
}
