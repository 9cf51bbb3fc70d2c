import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Collector } from '../../../platform/workers/collector.js';
import { ConcurrencyLimiter } from '../../../platform/workers/concurrency-limiter.js';
import type { Attempt } from '../webhook-sender.js';
import type { WebhooksRepository } from '../webhooks.repository.js';
import type { DeliveryState, Webhook, WebhookDelivery, WebhookQueue } from '../webhooks.schema.js';

/** Duration of a lease. Its process renews it; after it another process takes the queue over. */
export const LEASE_SECONDS = 60;
/** Queues that one statement examines. */
const EXAMINED = 500;

/** A leased queue. */
export type ClaimedQueue = Pick<
  WebhookQueue,
  'tenant_id' | 'webhook_id' | 'claims' | 'failures' | 'failing_since'
>;

/** A queue whose lease ends. */
export interface EndedQueue extends Pick<ClaimedQueue, 'webhook_id' | 'claims' | 'failures'> {
  /** Seconds for which the queue rests. */
  pause: number;
  is_slow: boolean;
}

export type DueDelivery = Pick<WebhookDelivery, 'id' | 'event_type' | 'facts' | 'occurred_at' | 'attempts'>;

/** The result of a delivery. `dropped`: it is removed, because its owner may not read the object. */
export interface DeliveryResult {
  webhookId: string;
  id: string;
  state: DeliveryState | 'dropped';
  attempt: Attempt | null;
  /** Seconds until the next attempt of a pending delivery. */
  retry: number;
}

// The queues that are ready longest, at most $4 of each workspace, without the workspaces $3. Index webhook_queues_ready.
const claim = workspace.statement<ClaimedQueue>(
  'webhooks.claim',
  `WITH ready AS MATERIALIZED (
     SELECT tenant_id, webhook_id, ready_at FROM webhook_queues
      WHERE ready_at <= now() AND is_slow = $2 AND tenant_id <> ALL ($3::uuid[]) ORDER BY ready_at LIMIT ${EXAMINED}),
   placed AS (
     SELECT tenant_id, webhook_id, row_number() OVER (PARTITION BY tenant_id ORDER BY ready_at) AS place FROM ready),
   picked AS MATERIALIZED (
     SELECT queue.tenant_id, queue.webhook_id FROM webhook_queues queue
       JOIN placed ON placed.tenant_id = queue.tenant_id AND placed.webhook_id = queue.webhook_id AND placed.place <= $4
      WHERE queue.ready_at <= now() ORDER BY queue.ready_at LIMIT $1 FOR UPDATE OF queue SKIP LOCKED)
   UPDATE webhook_queues queue
      SET claims = queue.claims + 1, held_until = now() + make_interval(secs => ${LEASE_SECONDS}),
          ready_at = now() + make_interval(secs => ${LEASE_SECONDS})
     FROM picked WHERE queue.tenant_id = picked.tenant_id AND queue.webhook_id = picked.webhook_id
   RETURNING queue.tenant_id, queue.webhook_id, queue.claims, queue.failures, queue.failing_since`,
  { reach: 'cell' },
);

// Rows are locked in the order of their keys, as by `release`.
const renew = workspace.statement<never>(
  'webhooks.renew',
  `WITH claimed AS MATERIALIZED (
     SELECT queue.tenant_id, queue.webhook_id FROM webhook_queues queue
       JOIN unnest($1::uuid[], $2::uuid[], $3::int[]) AS own (tenant_id, webhook_id, claims)
         ON queue.tenant_id = own.tenant_id AND queue.webhook_id = own.webhook_id AND queue.claims = own.claims
      ORDER BY queue.tenant_id, queue.webhook_id FOR UPDATE OF queue)
   UPDATE webhook_queues queue
      SET held_until = now() + make_interval(secs => ${LEASE_SECONDS}), ready_at = now() + make_interval(secs => ${LEASE_SECONDS})
     FROM claimed WHERE queue.tenant_id = claimed.tenant_id AND queue.webhook_id = claimed.webhook_id`,
  { reach: 'cell' },
);

// An event that the outbox still has may be older than those that follow it: these wait. A failed one no longer holds them up.
// Index webhook_deliveries_pending.
const due = workspace.statement<DueDelivery & { webhook_id: string }>(
  'webhooks.due',
  `SELECT webhook.id AS webhook_id, delivery.id, delivery.event_type, delivery.facts, delivery.occurred_at, delivery.attempts
     FROM unnest($2::uuid[], $3::int[]) AS wanted (webhook_id, size)
     JOIN webhooks webhook ON webhook.tenant_id = $1 AND webhook.id = wanted.webhook_id AND webhook.active
    CROSS JOIN LATERAL (
      SELECT pending.id, pending.event_type, pending.facts, pending.occurred_at, pending.attempts, pending.due_at
        FROM webhook_deliveries pending
       WHERE pending.tenant_id = $1 AND pending.webhook_id = webhook.id AND pending.state = 'pending' AND pending.due_at <= now()
         AND pending.due_at < (
           SELECT coalesce(min(event.occurred_at), 'infinity') FROM outbox event
            WHERE event.tenant_id = $1 AND event.type = ANY (webhook.event_types) AND event.parked_at IS NULL
              AND event.last_error IS NULL
              AND NOT EXISTS (
                SELECT FROM webhook_deliveries stored
                 WHERE stored.tenant_id = $1 AND stored.webhook_id = webhook.id AND stored.id = event.id))
       ORDER BY pending.due_at, pending.id LIMIT wanted.size) delivery
    ORDER BY webhook.id, delivery.due_at, delivery.id`,
);

const record = workspace.statement<never>(
  'webhooks.record',
  `WITH results AS (
     SELECT * FROM jsonb_to_recordset($2) AS result (
       webhook_id uuid, id uuid, state text, retry float8, status int, latency int, response text, error text)
      ORDER BY webhook_id, id),
   dropped AS (
     DELETE FROM webhook_deliveries delivery USING results
      WHERE delivery.tenant_id = $1 AND delivery.webhook_id = results.webhook_id AND delivery.id = results.id AND results.state = 'dropped')
   UPDATE webhook_deliveries delivery
      SET state = results.state, attempts = delivery.attempts + 1, attempted_at = clock_timestamp(), status_code = results.status,
          latency_ms = results.latency, response = results.response, error = results.error,
          due_at = CASE WHEN results.state = 'pending' THEN clock_timestamp() + make_interval(secs => results.retry)
                        ELSE delivery.due_at END
     FROM results
    WHERE delivery.tenant_id = $1 AND delivery.webhook_id = results.webhook_id AND delivery.id = results.id AND results.state <> 'dropped'`,
);

// Rows are locked in the order of their keys, in which the fan-out locks them too.
const release = workspace.statement<{ webhook_id: string; ready: number | null }>(
  'webhooks.release',
  `SELECT ended.webhook_id, webhook_release($1, ended.webhook_id, ended.claims, ended.pause, ended.failures, ended.is_slow) AS ready
     FROM (SELECT * FROM jsonb_to_recordset($2) AS queue (webhook_id uuid, claims int, pause float8, failures int, is_slow boolean)
            ORDER BY webhook_id) ended`,
);

const owners = workspace.statement<{ user_id: string; role: 'owner' | 'admin' | 'member' }>(
  'webhooks.owner_roles',
  `SELECT user_id, role FROM member_profiles WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND status = 'active'`,
);

/** SQL of the queues of webhooks. */
@Injectable()
export class QueuesRepository {
  constructor(private readonly db: Db) {}

  /**
   * Leases queues of the current cell.
   * @param busy workspaces that have their share of this process
   */
  async claim(
    limit: number,
    { isSlow, busy, perTenant }: { isSlow: boolean; busy: readonly string[]; perTenant: number },
  ): Promise<ClaimedQueue[]> {
    return this.db.single((tx) => tx.query(claim, [limit, isSlow, busy, perTenant]));
  }

  /** Renews leases of the current cell. */
  async renew(queues: readonly ClaimedQueue[]): Promise<void> {
    const keys = [
      queues.map(({ tenant_id }) => tenant_id),
      queues.map(({ webhook_id }) => webhook_id),
      queues.map(({ claims }) => claims),
    ];
    await this.db.single((tx) => tx.query(renew, keys));
  }

  /** The next deliveries of active webhooks, in the order of their events. @param sizes at most so many, by webhook */
  async readDue(tenantId: string, sizes: ReadonlyMap<string, number>): Promise<Map<string, DueDelivery[]>> {
    const rows = await this.db.query(due, [tenantId, [...sizes.keys()], [...sizes.values()]]);
    return Map.groupBy(rows, ({ webhook_id }) => webhook_id);
  }

  async record(tenantId: string, results: readonly DeliveryResult[]): Promise<void> {
    const rows = results.map(({ webhookId, id, state, retry, attempt }) => ({
      webhook_id: webhookId,
      id,
      state,
      retry,
      status: attempt?.statusCode,
      latency: attempt?.latencyMs,
      response: attempt?.response,
      error: attempt?.error,
    }));
    await this.db.single((tx) => tx.query(record, [tenantId, JSON.stringify(rows)]));
  }

  /** Ends leases. @returns seconds until the queues are ready again, by webhook; null: it has no pending deliveries */
  async release(tenantId: string, ended: readonly EndedQueue[]): Promise<Map<string, number | null>> {
    const rows = await this.db.single((tx) => tx.query(release, [tenantId, JSON.stringify(ended)]));
    return new Map(rows.map(({ webhook_id, ready }) => [webhook_id, ready]));
  }

  /** The roles of active members. */
  async rolesOf(
    tenantId: string,
    userIds: readonly string[],
  ): Promise<Map<string, 'owner' | 'admin' | 'member'>> {
    const rows = await this.db.query(owners, [tenantId, userIds]);
    return new Map(rows.map(({ user_id, role }) => [user_id, role]));
  }
}

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
  /** It limits the work in the database, so that many queues leave its connections to requests. */
  readonly database = new ConcurrencyLimiter(DATABASE_RUNS, Infinity);

  private readonly reads = new Collector<{ webhook_id: string; size: number }, NextDeliveries | null>(
    this.database,
    async (tenantId, wanted) => {
      const ids = wanted.map(({ webhook_id }) => webhook_id);
      const webhooks = await this.webhooks.readActive(tenantId, ids);
      const owners = [...new Set([...webhooks.values()].map(({ owner_id }) => owner_id))];
      const roles = await this.queues.rolesOf(tenantId, owners);
      // A webhook has two runs while a lease has been taken over: each gets its own size.
      const sizes = new Map<string, number>();
      for (const { webhook_id: id, size } of wanted) sizes.set(id, Math.max(size, sizes.get(id) ?? 0));
      const due = await this.queues.readDue(tenantId, sizes);
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

  /** Null means that the webhook is inactive. */
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
