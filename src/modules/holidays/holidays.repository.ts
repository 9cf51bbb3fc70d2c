import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import type { HolidaySubscription } from './subscription.js';

/** The subscriptions of a member and of the workspace. */
export interface Subscriptions {
  own: HolidaySubscription[];
  tenant: HolidaySubscription[];
  muted: string[];
}

const readMany = workspace.statement<Subscriptions & { user_id: string }>(
  'holidays.read_many',
  `SELECT member.user_id, coalesce(own.subscriptions, '[]') AS own, coalesce(own.muted_tenant, '{}') AS muted,
          coalesce(tenant.subscriptions, '[]') AS tenant
     FROM unnest($2::uuid[]) AS member (user_id)
     LEFT JOIN holiday_subscriptions AS own ON own.tenant_id = $1 AND own.user_id = member.user_id
     LEFT JOIN tenant_holiday_subscriptions AS tenant ON tenant.tenant_id = $1`,
);

// Null keeps the muted subscriptions.
const writeOwn = workspace.statement<never>(
  'holidays.write_subscriptions',
  `INSERT INTO holiday_subscriptions AS stored (tenant_id, user_id, subscriptions, muted_tenant)
   VALUES ($1, $2, $3::jsonb, coalesce($4::text[], '{}'))
   ON CONFLICT (tenant_id, user_id) DO UPDATE
     SET subscriptions = excluded.subscriptions, muted_tenant = coalesce($4::text[], stored.muted_tenant),
         updated_at = now()`,
);

const writeTenant = workspace.statement<never>(
  'holidays.write_tenant_subscriptions',
  `INSERT INTO tenant_holiday_subscriptions (tenant_id, subscriptions) VALUES ($1, $2::jsonb)
   ON CONFLICT (tenant_id) DO UPDATE SET subscriptions = excluded.subscriptions, updated_at = now()`,
);

/** SQL of holiday subscriptions. */
@Injectable()
export class HolidaysRepository {
  constructor(private readonly db: Db) {}

  async read({ tenantId, userId }: RequestContext, reader?: Reader): Promise<Subscriptions> {
    return (await this.readMany(tenantId, [userId], reader)).get(userId) as Subscriptions;
  }

  /** By user id. */
  async readMany(tenantId: string, userIds: readonly string[], reader: Reader = this.db) {
    const rows = await reader.query(readMany, [tenantId, userIds]);
    return new Map(
      rows.map(({ user_id, ...subscriptions }): [string, Subscriptions] => [user_id, subscriptions]),
    );
  }

  async writeOwn(
    tx: Tx,
    ctx: RequestContext,
    subscriptions: HolidaySubscription[],
    muted: string[] | null,
  ): Promise<void> {
    await tx.query(writeOwn, [ctx.tenantId, ctx.userId, JSON.stringify(subscriptions), muted]);
  }

  async writeTenant(tx: Tx, ctx: RequestContext, subscriptions: HolidaySubscription[]): Promise<void> {
    await tx.query(writeTenant, [ctx.tenantId, JSON.stringify(subscriptions)]);
  }
}
