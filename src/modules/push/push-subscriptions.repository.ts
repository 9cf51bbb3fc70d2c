import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type { MemberKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { type ColumnValues, NOW, rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { RowQuota } from '../../platform/quotas/row-quota.js';
import { PushSubscription } from './push.schema.js';
import type { PushAttempt } from './push-sender.js';

const ofUser = new RowQuota(
  'user',
  'push_subscriptions',
  'push',
  'push_subscriptions item WHERE item.tenant_id = $1 AND item.user_id = $2',
);

const record = workspace.statement<never>(
  'push.record_attempt',
  `UPDATE push_subscriptions SET attempted_at = now(), status_code = $4, error = $5
    WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);

// A browser has one subscription for all who sign in at it, so its secrets are those of an earlier user of the device.
const replaceOthers = workspace.statement<never>(
  'push.replace_others',
  `DELETE FROM push_subscriptions
    WHERE tenant_id = $1 AND user_id <> $2 AND endpoint_hash = $3 AND auth = $4 AND p256dh = $5`,
);

/** What a device tells about itself. */
export type SubscriptionValues = Pick<
  PushSubscription,
  'endpoint' | 'service' | 'p256dh' | 'auth' | 'can_dismiss' | 'key_id' | 'description' | 'session_id'
>;

/** SQL of push subscriptions. */
@Injectable()
export class PushSubscriptionsRepository {
  constructor(private readonly db: Db) {}

  /** Oldest first. */
  async page(
    { tenantId, userId }: MemberKey,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<PushSubscription[]> {
    return rowsOf(this.db, PushSubscription).page(
      { tenant_id: tenantId, user_id: userId },
      ['id'],
      after,
      limit,
    );
  }

  async find({ tenantId, userId }: MemberKey, id: string): Promise<PushSubscription | null> {
    return rowsOf(this.db, PushSubscription).one({ tenant_id: tenantId, user_id: userId, id });
  }

  /** Subscriptions of several users. @param wanted user and id of each */
  async findMany(
    tenantId: string,
    wanted: readonly { userId: string; id: string }[],
  ): Promise<PushSubscription[]> {
    const users = [...new Set(wanted.map(({ userId }) => userId))];
    const ids = [...new Set(wanted.map(({ id }) => id))];
    return rowsOf(this.db, PushSubscription).all({ tenant_id: tenantId, user_id: In(users), id: In(ids) });
  }

  /**
   * Replaces the values of the device that has the endpoint, or adds one. An earlier user of the device loses it.
   * @throws ApiError 409 `quota_exceeded`
   */
  async store(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    id: string,
    values: SubscriptionValues,
  ): Promise<PushSubscription> {
    const endpointHash = createHash('sha256').update(values.endpoint).digest('base64url');
    await tx.query(replaceOthers, [tenantId, userId, endpointHash, values.auth, values.p256dh]);
    const rows = rowsOf(tx, PushSubscription);
    const replace = async () =>
      (await rows.update({ tenant_id: tenantId, user_id: userId, endpoint_hash: endpointHash }, values))[0];
    const known = await replace();
    if (known) return known;
    await ofUser.take(tx, tenantId, userId);
    const key = { tenant_id: tenantId, user_id: userId, id, endpoint_hash: endpointHash };
    const made: ColumnValues<PushSubscription> = { ...values, ...key, created_at: NOW };
    // The lock of the quota lets one request of a user add at a time: another one may have added the endpoint before.
    return ((await rows.insert(made)) ?? (await replace())) as PushSubscription;
  }

  /** Deletes a subscription with its deliveries. */
  async delete(tx: Tx, { tenantId, userId }: MemberKey, id: string): Promise<boolean> {
    return (
      (await rowsOf(tx, PushSubscription).delete({ tenant_id: tenantId, user_id: userId, id })).length > 0
    );
  }

  /** Remembers the outcome of the last message. */
  async record(
    { tenant_id, user_id, id }: PushSubscription,
    { statusCode, error }: PushAttempt,
  ): Promise<void> {
    await this.db.single((tx) => tx.query(record, [tenant_id, user_id, id, statusCode, error]));
  }
}
