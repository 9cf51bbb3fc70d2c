import { Collector } from '../../../platform/workers/collector.js';
import { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import type { Webhook } from '../webhook.entity.js';
import type { WebhooksRepository } from '../webhooks.repository.js';
import type { DeliveryResult, DueDelivery, EndedQueue, QueuesRepository } from './queues.repository.js';

/** Runs of a process that use the database at the same time. */
const DATABASE_RUNS = 4;

/** What a queue sends next; `role` is that of the owner, undefined: no active member. */
export interface NextDeliveries {
  webhook: Webhook;
  role: 'owner' | 'admin' | 'member' | undefined;
  batch: readonly DueDelivery[];
}

/** The statements of the queues of a process. Queues of a workspace that wait for the database at the same time have one together. */
export class QueueStatements {
  /** Of the work in the database, so that many queues leave its connections to requests. */
  readonly database = new ConcurrencyLimiter(DATABASE_RUNS, Infinity);

  private readonly reads = new Collector<{ webhook_id: string; size: number }, NextDeliveries | null>(
    this.database,
    async (tenantId, wanted) => {
      const ids = wanted.map(({ webhook_id }) => webhook_id);
      const webhooks = await this.webhooks.active(tenantId, ids);
      const owners = [...new Set([...webhooks.values()].map(({ owner_id }) => owner_id))];
      const roles = await this.queues.rolesOf(tenantId, owners);
      // A webhook has two runs while a lease has been taken over: each gets its own size.
      const sizes = new Map<string, number>();
      for (const { webhook_id: id, size } of wanted) sizes.set(id, Math.max(size, sizes.get(id) ?? 0));
      const due = await this.queues.due(tenantId, sizes);
      return wanted.map(({ webhook_id: id, size }) => {
        const webhook = webhooks.get(id);
        if (!webhook) return null;
        return { webhook, role: roles.get(webhook.owner_id), batch: (due.get(id) ?? []).slice(0, size) };
      });
    },
  );
  private readonly results = new Collector<readonly DeliveryResult[]>(
    this.database,
    async (tenantId, results) => {
      await this.queues.record(tenantId, results.flat());
      return [];
    },
  );
  private readonly ends = new Collector<EndedQueue, number | null>(this.database, async (tenantId, ended) => {
    const ready = await this.queues.release(tenantId, ended);
    return ended.map(({ webhook_id }) => ready.get(webhook_id) ?? null);
  });

  constructor(
    private readonly queues: QueuesRepository,
    private readonly webhooks: WebhooksRepository,
  ) {}

  /** Null: the webhook is inactive. */
  next(tenantId: string, webhookId: string, size: number): Promise<NextDeliveries | null> {
    return this.reads.add(tenantId, { webhook_id: webhookId, size });
  }

  async record(tenantId: string, results: readonly DeliveryResult[]): Promise<void> {
    if (results.length > 0) await this.results.add(tenantId, results);
  }

  /** @returns seconds until the queue is ready again; null: it has no pending deliveries */
  release(tenantId: string, ended: EndedQueue): Promise<number | null> {
    return this.ends.add(tenantId, ended);
  }
}
