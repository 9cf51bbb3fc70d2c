import { Injectable } from '@nestjs/common';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { MemberKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { type ColumnValues, NOW, rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { EventInterests, PublicEvents } from '../../platform/events/public-events.js';
import { Errors } from '../../platform/http/errors.js';
import { RowQuota } from '../../platform/quotas/row-quota.js';
import { WebhookErrors, WEBHOOKS } from './webhooks.dto.js';
import { Webhook, WebhookQueue, type WebhookScope } from './webhooks.schema.js';

/** Who may see and change a webhook: its owner; and administrators those of the workspace, in part. */
@Injectable()
export class WebhookAccess {
  constructor(private readonly permissions: PermissionSource) {}

  async isManager(ctx: MemberKey): Promise<boolean> {
    return (await this.permissions.permissionsOf(ctx)).has('webhooks.manage');
  }

  /** @throws ApiError 403 */
  async assertManager(ctx: MemberKey): Promise<void> {
    if (!(await this.isManager(ctx))) throw Errors.forbidden.with();
  }

  /** The webhook, for a caller who may see it. @throws ApiError 404 */
  assertVisible(ctx: MemberKey, webhook: Webhook | null, isManager: boolean): Webhook {
    const isVisible = webhook?.owner_id === ctx.userId || (webhook?.scope === 'tenant' && isManager);
    if (!webhook || !isVisible) throw WEBHOOKS.notFound.with();
    return webhook;
  }

  /**
   * Its events contain what its owner can read, so only the owner decides where they go.
   * @throws ApiError 403 `not_owner`
   */
  assertOwner({ userId }: MemberKey, { owner_id }: Webhook): void {
    if (owner_id !== userId) throw WebhookErrors.notOwner.with();
  }

  /** Whether the owner may have the webhook now. */
  async isAllowed({ tenant_id: tenantId, owner_id, scope }: Webhook): Promise<boolean> {
    return scope === 'user' || (await this.isManager({ tenantId, userId: owner_id }));
  }
}

const ofOwner = new RowQuota(
  'user',
  'webhooks',
  'webhooks',
  'webhooks item WHERE item.tenant_id = $1 AND item.owner_id = $2',
);

const COLUMNS = `webhook.tenant_id, webhook.id, webhook.owner_id, webhook.revision, webhook.scope, webhook.url, webhook.description,
          webhook.event_types, webhook.filter, webhook.active, webhook.inactive_from, webhook.inactive_until, webhook.disabled_reason, webhook.disabled_at,
          webhook.secret, webhook.previous_secret, webhook.previous_until, webhook.created_at, webhook.updated_at`;

const active = workspace.statement<Record<string, unknown>>(
  'webhooks.active',
  `SELECT ${COLUMNS} FROM webhooks webhook WHERE webhook.tenant_id = $1 AND webhook.id = ANY ($2::uuid[]) AND webhook.active`,
);

// $5: whether those of the workspace of other owners are listed too.
const page = workspace.statement<Record<string, unknown>>(
  'webhooks.page',
  `SELECT ${COLUMNS}
     FROM webhooks webhook
    WHERE webhook.tenant_id = $1 AND (webhook.owner_id = $2 OR $5 AND webhook.scope = 'tenant')
      AND ($6::text IS NULL OR webhook.scope = $6) AND ($3::uuid IS NULL OR webhook.id > $3)
    ORDER BY webhook.id LIMIT $4`,
);

// The number of the lease changes: a process that works on the queue does not end it.
const wake = workspace.statement<never>(
  'webhooks.wake_queue',
  `UPDATE webhook_queues queue
      SET due_at = now(), held_until = now(), ready_at = now(), claims = queue.claims + 1, failures = 0, failing_since = NULL, is_slow = false
    WHERE queue.tenant_id = $1 AND queue.webhook_id = $2`,
);

// Deliveries that have failed get their places and all attempts back.
const resume = workspace.statement<never>(
  'webhooks.resume_deliveries',
  `UPDATE webhook_deliveries SET due_at = occurred_at, attempts = 0
    WHERE tenant_id = $1 AND webhook_id = $2 AND state = 'pending' AND attempts > 0`,
);

const removeSome = workspace.statement<{ count: number }>(
  'webhooks.remove_deliveries',
  `WITH removed AS (
     DELETE FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND id IN (
       SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 LIMIT $3) RETURNING 1)
   SELECT count(*)::int AS count FROM removed`,
);

/** The inactive time of a webhook that is deactivated or activated. */
function inactiveTimes(before: Webhook, { active }: ColumnValues<Webhook>): ColumnValues<Webhook> {
  if (active === undefined || active === before.active) return {};
  return active === true ? { inactive_until: NOW } : { inactive_from: NOW, inactive_until: null };
}

/** SQL of webhooks and their settings. */
@Injectable()
export class WebhooksRepository {
  constructor(
    private readonly db: Db,
    private readonly events: PublicEvents,
    private readonly interests: EventInterests,
  ) {}

  /** @param isManager whether webhooks of the workspace of other owners are listed too */
  async page(
    { tenantId, userId }: MemberKey,
    { isManager, scope }: { isManager: boolean; scope: WebhookScope | undefined },
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<Webhook[]> {
    const values = [tenantId, userId, after?.[0] ?? null, limit, isManager, scope ?? null];
    const rows = await this.db.query(page, values);
    return rows.map((row) => rowsOf(this.db, Webhook).hydrate(row));
  }

  async find(tenantId: string, id: string, reader: Reader = this.db): Promise<Webhook | null> {
    return rowsOf(reader, Webhook).one({ tenant_id: tenantId, id });
  }

  /** Active ones, by id. */
  async readActive(tenantId: string, ids: readonly string[]): Promise<Map<string, Webhook>> {
    const rows = await this.db.query(active, [tenantId, ids]);
    const webhooks = rows.map((row) => rowsOf(this.db, Webhook).hydrate(row));
    return new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  }

  async lock(tx: Tx, tenantId: string, id: string): Promise<Webhook | null> {
    return rowsOf(tx, Webhook).lock({ tenant_id: tenantId, id });
  }

  /** Null means that the id is taken. @throws ApiError 409 `quota_exceeded` */
  async insert(
    tx: Tx,
    values: ColumnValues<Webhook> & { tenant_id: string; owner_id: string },
  ): Promise<Webhook | null> {
    await ofOwner.take(tx, values.tenant_id, values.owner_id);
    const inactive_from = values.active === false ? NOW : null;
    const times = { inactive_from, created_at: NOW, updated_at: NOW };
    const made = await rowsOf(tx, Webhook).insert({ ...values, ...times });
    if (!made) return null;
    await rowsOf(tx, WebhookQueue).insert({ tenant_id: made.tenant_id, webhook_id: made.id });
    await this.setInterests(tx, made, made.event_types);
    return made;
  }

  /** Stores the next revision. */
  async update(tx: Tx, before: Webhook, values: ColumnValues<Webhook>): Promise<Webhook> {
    const { tenant_id, id, revision } = before;
    const changes = { ...values, ...inactiveTimes(before, values), revision: revision + 1, updated_at: NOW };
    const after = (await rowsOf(tx, Webhook).update({ tenant_id, id }, changes))[0] as Webhook;
    await this.setInterests(tx, after, after.active ? after.event_types : []);
    return after;
  }

  /** All pending deliveries are due at once, as if none had failed. */
  async resume(tx: Tx, webhook: Webhook): Promise<void> {
    await tx.query(resume, [webhook.tenant_id, webhook.id]);
    await this.wake(tx, webhook);
  }

  /** The queue ends its rest after failures. */
  async wake(tx: Tx, { tenant_id, id }: Webhook): Promise<void> {
    await tx.query(wake, [tenant_id, id]);
  }

  /** Removes at most `limit` deliveries. @returns their number */
  async removeDeliveries(tx: Tx, { tenant_id, id }: Webhook, limit: number): Promise<number> {
    return (await tx.query(removeSome, [tenant_id, id, limit]))[0]?.count ?? 0;
  }

  async delete(tx: Tx, webhook: Webhook): Promise<void> {
    const { tenant_id, id } = webhook;
    await this.setInterests(tx, webhook, []);
    await rowsOf(tx, Webhook).delete({ tenant_id, id });
  }

  private async setInterests(
    tx: Tx,
    { tenant_id, id, owner_id }: Webhook,
    types: readonly string[],
  ): Promise<void> {
    const frequent = types.flatMap((type) => {
      const subject = this.events.find(type)?.subject;
      return subject?.isFrequent ? [{ type, userId: subject.owner === undefined ? null : owner_id }] : [];
    });
    await this.interests.set(tx, tenant_id, id, frequent);
  }
}
