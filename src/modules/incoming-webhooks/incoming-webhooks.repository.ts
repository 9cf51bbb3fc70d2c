import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { type ColumnValues, NOW, rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { RowQuota } from '../../platform/quotas/row-quota.js';
import { IncomingWebhook, type TargetType } from './incoming-webhooks.schema.js';

const ofOwner = new RowQuota(
  'user',
  'incoming_webhooks',
  'incoming_webhooks',
  'incoming_webhooks item WHERE item.tenant_id = $1 AND item.owner_id = $2',
);

// $5: whether those of other owners are listed too.
const page = workspace.statement<Record<string, unknown>>(
  'incoming_webhooks.page',
  `SELECT hook.tenant_id, hook.id, hook.owner_id, hook.revision, hook.name, hook.target_type, hook.target_id, hook.active,
          hook.token_hash, hook.last_used_at, hook.created_at, hook.updated_at
     FROM incoming_webhooks hook
    WHERE hook.tenant_id = $1 AND (hook.owner_id = $2 OR $5) AND ($6::text IS NULL OR hook.target_type = $6)
      AND ($3::uuid IS NULL OR hook.id > $3)
    ORDER BY hook.id LIMIT $4`,
);

const touch = workspace.statement<never>(
  'incoming_webhooks.touch',
  `UPDATE incoming_webhooks SET last_used_at = now() WHERE tenant_id = $1 AND id = $2`,
);

/** Milliseconds for which the time of the last use stays, so that frequent requests write nothing. */
const TOUCH_MS = 60_000;

/** SQL of incoming webhooks. */
@Injectable()
export class IncomingWebhooksRepository {
  constructor(private readonly db: Db) {}

  /** @param isManager whether those of other owners are listed too */
  async page(
    { tenantId, userId }: MemberKey,
    { isManager, type }: { isManager: boolean; type: TargetType | undefined },
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<IncomingWebhook[]> {
    const values = [tenantId, userId, after?.[0] ?? null, limit, isManager, type ?? null];
    const rows = await this.db.query(page, values);
    return rows.map((row) => rowsOf(this.db, IncomingWebhook).hydrate(row));
  }

  async find(tenantId: string, id: string, reader: Reader = this.db): Promise<IncomingWebhook | null> {
    return rowsOf(reader, IncomingWebhook).one({ tenant_id: tenantId, id });
  }

  async lock(tx: Tx, tenantId: string, id: string): Promise<IncomingWebhook | null> {
    return rowsOf(tx, IncomingWebhook).lock({ tenant_id: tenantId, id });
  }

  /** The active one with this token. */
  async ofToken(tenantId: string, tokenHash: Buffer): Promise<IncomingWebhook | null> {
    return rowsOf(this.db, IncomingWebhook).one({ tenant_id: tenantId, token_hash: tokenHash, active: true });
  }

  /** Null means that the id is taken. @throws ApiError 409 `quota_exceeded` */
  async insert(
    tx: Tx,
    values: ColumnValues<IncomingWebhook> & { tenant_id: string; owner_id: string },
  ): Promise<IncomingWebhook | null> {
    await ofOwner.take(tx, values.tenant_id, values.owner_id);
    return rowsOf(tx, IncomingWebhook).insert({ ...values, created_at: NOW, updated_at: NOW });
  }

  /** Stores the next revision. */
  async update(
    tx: Tx,
    { tenant_id, id, revision }: IncomingWebhook,
    values: ColumnValues<IncomingWebhook>,
  ): Promise<IncomingWebhook> {
    const changes = { ...values, revision: revision + 1, updated_at: NOW };
    return (await rowsOf(tx, IncomingWebhook).update({ tenant_id, id }, changes))[0] as IncomingWebhook;
  }

  async delete(tx: Tx, { tenant_id, id }: IncomingWebhook): Promise<void> {
    await rowsOf(tx, IncomingWebhook).delete({ tenant_id, id });
  }

  /** Notes the use, to the minute. */
  async touch({ tenant_id, id, last_used_at }: IncomingWebhook): Promise<void> {
    if (last_used_at && Date.now() - last_used_at.getTime() < TOUCH_MS) return;
    await this.db.single((tx) => tx.query(touch, [tenant_id, id]));
  }
}
