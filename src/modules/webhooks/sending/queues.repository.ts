import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { DeliveryState } from '../webhook.entity.js';
import type { Attempt } from '../webhook-sender.js';

/** Duration of a lease. Its process renews it; after it another process takes the queue over. */
export const LEASE_SECONDS = 60;
/** Queues that one statement examines. */
const EXAMINED = 500;

/** A leased queue. */
export interface ClaimedQueue {
  tenant_id: string;
  webhook_id: string;
  claims: number;
  failures: number;
  failing_since: Date | null;
}

export interface DueDelivery {
  id: string;
  event_type: string;
  facts: Record<string, unknown>;
  occurred_at: Date;
  attempts: number;
}

/** The result of a delivery. `dropped`: it is removed, because its owner may not read the object. */
export interface DeliveryResult {
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

const renew = workspace.statement<never>(
  'webhooks.renew',
  `UPDATE webhook_queues queue
      SET held_until = now() + make_interval(secs => ${LEASE_SECONDS}), ready_at = now() + make_interval(secs => ${LEASE_SECONDS})
     FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS claimed (tenant_id, webhook_id, claims)
    WHERE queue.tenant_id = claimed.tenant_id AND queue.webhook_id = claimed.webhook_id AND queue.claims = claimed.claims`,
  { reach: 'cell' },
);

// An event that the outbox still has may be older than those that follow it: these wait. A failed one no longer holds them up.
// Index webhook_deliveries_pending.
const due = workspace.statement<DueDelivery>(
  'webhooks.due',
  `SELECT delivery.id, delivery.event_type, delivery.facts, delivery.occurred_at, delivery.attempts
     FROM webhook_deliveries delivery
    WHERE delivery.tenant_id = $1 AND delivery.webhook_id = $2 AND delivery.state = 'pending' AND delivery.due_at <= now()
      AND delivery.due_at < (
        SELECT coalesce(min(event.occurred_at), 'infinity') FROM outbox event
         WHERE event.tenant_id = $1 AND event.type = ANY ($3::text[]) AND event.parked_at IS NULL AND event.last_error IS NULL
           AND NOT EXISTS (
             SELECT FROM webhook_deliveries stored
              WHERE stored.tenant_id = $1 AND stored.webhook_id = $2 AND stored.id = event.id))
    ORDER BY delivery.due_at, delivery.id LIMIT $4`,
);

const record = workspace.statement<never>(
  'webhooks.record',
  `WITH results AS (
     SELECT * FROM jsonb_to_recordset($3) AS result (
       id uuid, state text, retry float8, status int, latency int, response text, error text)),
   dropped AS (
     DELETE FROM webhook_deliveries delivery USING results
      WHERE delivery.tenant_id = $1 AND delivery.webhook_id = $2 AND delivery.id = results.id AND results.state = 'dropped')
   UPDATE webhook_deliveries delivery
      SET state = results.state, attempts = delivery.attempts + 1, attempted_at = clock_timestamp(), status_code = results.status,
          latency_ms = results.latency, response = results.response, error = results.error,
          due_at = CASE WHEN results.state = 'pending' THEN clock_timestamp() + make_interval(secs => results.retry)
                        ELSE delivery.due_at END
     FROM results
    WHERE delivery.tenant_id = $1 AND delivery.webhook_id = $2 AND delivery.id = results.id AND results.state <> 'dropped'`,
);

const release = workspace.statement<{ ready: number | null }>(
  'webhooks.release',
  `SELECT webhook_release($1, $2, $3, $4, $5, $6) AS ready`,
);

const role = workspace.statement<{ role: 'owner' | 'admin' | 'member' }>(
  'webhooks.owner_role',
  `SELECT role FROM member_profiles WHERE tenant_id = $1 AND user_id = $2 AND status = 'active'`,
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

  /** The next deliveries, in the order of their events. @param types of the webhook */
  async due({ tenant_id, webhook_id }: ClaimedQueue, types: string[], limit: number): Promise<DueDelivery[]> {
    return this.db.query(due, [tenant_id, webhook_id, types, limit]);
  }

  async record({ tenant_id, webhook_id }: ClaimedQueue, results: readonly DeliveryResult[]): Promise<void> {
    if (results.length === 0) return;
    const rows = results.map(({ id, state, retry, attempt }) => ({
      id,
      state,
      retry,
      status: attempt?.statusCode,
      latency: attempt?.latencyMs,
      response: attempt?.response,
      error: attempt?.error,
    }));
    await this.db.single((tx) => tx.query(record, [tenant_id, webhook_id, JSON.stringify(rows)]));
  }

  /**
   * Ends a lease.
   * @param pause seconds for which the queue rests
   * @returns seconds until the queue is ready again; null: it has no pending deliveries
   */
  async release(
    { tenant_id, webhook_id, claims }: ClaimedQueue,
    { pause, failures, isSlow }: { pause: number; failures: number; isSlow: boolean },
  ): Promise<number | null> {
    const values = [tenant_id, webhook_id, claims, pause, failures, isSlow];
    return (await this.db.single((tx) => tx.query(release, values)))[0]?.ready ?? null;
  }

  /** The role of the owner; undefined: no active member. */
  async roleOf(tenantId: string, userId: string): Promise<'owner' | 'admin' | 'member' | undefined> {
    return (await this.db.query(role, [tenantId, userId]))[0]?.role;
  }
}
