import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import type { AddedNotifications } from '../../notifications/index.js';
import type { PushKind } from '../push.entity.js';
import { traitsOf, WITHDRAWAL_TTL } from './push-traits.js';

/** After it another process sends the message: longer than an attempt. */
const LEASE_SECONDS = 60;
/** Deliveries that one statement examines. */
const EXAMINED = 500;
/** Messages of a user that one statement withdraws; later ones are withdrawn first. */
const WITHDRAWN = 1_000;
/** Further causes of one notification in this time are sent together: a busy room sends few messages. */
const COLLECTED_SECONDS = 5;
/** Later a message that a device shows is not withdrawn. */
const KEPT_DAYS = 7;

/** A leased delivery. */
export interface ClaimedDelivery {
  tenant_id: string;
  user_id: string;
  subscription_id: string;
  notification_id: string;
  type: string;
  service: string;
  kind: PushKind;
  state: 'pending' | 'sent';
  /** Whether the device shows an earlier message of the notification. */
  is_shown: boolean;
  expires_at: Date;
  attempts: number;
  claims: number;
}

/** What a process has in work, and the most that it takes. */
export interface ClaimOptions {
  /** Workspaces and push services that have their share of this process. */
  busyTenants: readonly string[];
  busyServices: readonly string[];
  /** Deliveries of each workspace and push service in one claim. */
  perTenant: number;
  perService: number;
}

// A further cause of a notification is sent again, under the same topic; one message tells of those of a few seconds. A repetition after a
// failure keeps its time. A subscription that is deleted meanwhile gets none.
const add = workspace.statement<{ added: number }>(
  'push.add',
  `INSERT INTO push_deliveries AS stored (tenant_id, user_id, subscription_id, notification_id, type, service, expires_at)
   SELECT $1, subscription.user_id, subscription.id, given.id, $2, subscription.service, now() + make_interval(secs => $4)
     FROM jsonb_to_recordset($3) AS given (user_id uuid, id uuid)
     JOIN push_subscriptions subscription ON subscription.tenant_id = $1 AND subscription.user_id = given.user_id
    ORDER BY subscription.user_id, subscription.id, given.id FOR KEY SHARE OF subscription
   ON CONFLICT (tenant_id, user_id, subscription_id, notification_id) DO UPDATE
     SET kind = 'shown', state = 'pending', expires_at = excluded.expires_at, claims = stored.claims + 1, service = excluded.service,
         created_at = now(), attempts = CASE WHEN stored.state = 'pending' THEN stored.attempts ELSE 0 END,
         due_at = CASE WHEN stored.state = 'pending' AND stored.attempts > 0 THEN stored.due_at
                       WHEN stored.state = 'pending' THEN least(stored.due_at, now() + make_interval(secs => ${COLLECTED_SECONDS}))
                       ELSE now() + make_interval(secs => ${COLLECTED_SECONDS}) END
   RETURNING 1 AS added`,
);

const shown = workspace.statement<{ notification_id: string }>(
  'push.shown',
  `SELECT DISTINCT notification_id FROM push_deliveries
    WHERE tenant_id = $1 AND user_id = $2 AND state = 'sent' AND kind = 'shown'
    ORDER BY notification_id DESC LIMIT ${WITHDRAWN}`,
);

const WITHDRAW = `kind = 'dismissed', state = 'pending', due_at = now(), expires_at = now() + make_interval(secs => ${WITHDRAWAL_TTL}),
          attempts = 0, claims = claims + 1`;

const withdraw = workspace.statement<{ withdrawn: number }>(
  'push.withdraw',
  `UPDATE push_deliveries
      SET ${WITHDRAW}
    WHERE tenant_id = $1 AND user_id = $2 AND notification_id = ANY ($3::uuid[]) AND state = 'sent' AND kind = 'shown'
   RETURNING 1 AS withdrawn`,
);

// Those that are due longest, without the workspaces $2 and push services $3, at most $4 of each workspace and $5 of each push service.
// Index push_deliveries_due.
const claim = workspace.statement<ClaimedDelivery>(
  'push.claim',
  `WITH ready AS MATERIALIZED (
     SELECT tenant_id, user_id, subscription_id, notification_id, service, due_at FROM push_deliveries
      WHERE due_at <= now() AND tenant_id <> ALL ($2::uuid[]) AND service <> ALL ($3::text[])
      ORDER BY due_at LIMIT ${EXAMINED}),
   placed AS (
     SELECT ready.*, row_number() OVER (PARTITION BY tenant_id ORDER BY due_at) AS place,
            row_number() OVER (PARTITION BY service ORDER BY due_at) AS turn
       FROM ready),
   picked AS MATERIALIZED (
     SELECT delivery.tenant_id, delivery.user_id, delivery.subscription_id, delivery.notification_id
       FROM push_deliveries delivery
       JOIN placed ON placed.tenant_id = delivery.tenant_id AND placed.user_id = delivery.user_id
        AND placed.subscription_id = delivery.subscription_id AND placed.notification_id = delivery.notification_id
        AND placed.place <= $4 AND placed.turn <= $5
      WHERE delivery.due_at <= now() ORDER BY delivery.due_at LIMIT $1 FOR UPDATE OF delivery SKIP LOCKED)
   UPDATE push_deliveries delivery
      SET claims = delivery.claims + 1, due_at = now() + make_interval(secs => ${LEASE_SECONDS})
     FROM picked
    WHERE delivery.tenant_id = picked.tenant_id AND delivery.user_id = picked.user_id
      AND delivery.subscription_id = picked.subscription_id AND delivery.notification_id = picked.notification_id
   RETURNING delivery.tenant_id, delivery.user_id, delivery.subscription_id, delivery.notification_id, delivery.type, delivery.service,
             delivery.kind, delivery.state, delivery.is_shown, delivery.expires_at, delivery.attempts, delivery.claims`,
  { reach: 'cell' },
);

const KEY = `tenant_id = $1 AND user_id = $2 AND subscription_id = $3 AND notification_id = $4`;
const LEASED = `${KEY} AND claims = $5`;

// $6: seconds until the message is examined; null: not again. After a further cause the message is still pending, but the device shows this one.
const sent = workspace.statement<never>(
  'push.sent',
  `UPDATE push_deliveries
      SET is_shown = true, state = CASE WHEN claims = $5 THEN 'sent' ELSE state END,
          attempts = CASE WHEN claims = $5 THEN 0 ELSE attempts END,
          due_at = CASE WHEN claims = $5 THEN coalesce(clock_timestamp() + make_interval(secs => $6), 'infinity') ELSE due_at END
    WHERE ${KEY}`,
);

const postpone = workspace.statement<never>(
  'push.postpone',
  `UPDATE push_deliveries SET due_at = clock_timestamp() + make_interval(secs => $6), attempts = $7 WHERE ${LEASED}`,
);

const withdrawOne = workspace.statement<never>(
  'push.withdraw_one',
  `UPDATE push_deliveries SET ${WITHDRAW} WHERE ${LEASED}`,
);

const drop = workspace.statement<never>('push.drop', `DELETE FROM push_deliveries WHERE ${LEASED}`);

const forget: Sweep = workspace.statement(
  'push.forget_deliveries',
  deletion('push_deliveries', `created_at < now() - interval '${KEPT_DAYS} days'`),
  { reach: 'cell' },
);

const keyOf = (row: ClaimedDelivery): unknown[] => [
  row.tenant_id,
  row.user_id,
  row.subscription_id,
  row.notification_id,
  row.claims,
];

/** SQL of the messages that are sent, and of those that devices show. */
@Injectable()
export class PushQueue {
  constructor(
    private readonly db: Db,
    jobs: PeriodicJobs,
  ) {
    jobs.register({ name: 'push.forget-deliveries', everySeconds: 3600, deletes: forget });
  }

  /** Adds messages for all devices of the recipients. @returns their number */
  async add(tx: Tx, { tenantId, type, notifications }: AddedNotifications): Promise<number> {
    const values = [tenantId, type, JSON.stringify(notifications), traitsOf(type).ttl];
    return (await tx.query(add, values)).length;
  }

  /** The notifications that devices of the user show, the newest ones. */
  async shown({ tenantId, userId }: MemberKey): Promise<string[]> {
    const rows = await this.db.query(shown, [tenantId, userId]);
    return rows.map(({ notification_id }) => notification_id);
  }

  /** Withdraws notifications from the devices that show them. @returns the number of messages */
  async withdraw({ tenantId, userId }: MemberKey, ids: readonly string[]): Promise<number> {
    return (await this.db.single((tx) => tx.query(withdraw, [tenantId, userId, ids]))).length;
  }

  /** Leases due deliveries of the current cell. */
  async claim(limit: number, options: ClaimOptions): Promise<ClaimedDelivery[]> {
    const { busyTenants, busyServices, perTenant, perService } = options;
    const values = [limit, busyTenants, busyServices, perTenant, perService];
    return this.db.single((tx) => tx.query(claim, values));
  }

  /** The device has the message. @param examinedAfter seconds until it is examined; null: not again */
  async sent(row: ClaimedDelivery, examinedAfter: number | null): Promise<void> {
    await this.db.single((tx) => tx.query(sent, [...keyOf(row), examinedAfter]));
  }

  /** @param attempts that have failed */
  async postpone(row: ClaimedDelivery, seconds: number, attempts: number): Promise<void> {
    await this.db.single((tx) => tx.query(postpone, [...keyOf(row), seconds, attempts]));
  }

  /** Ends a delivery. An earlier message that the device shows is withdrawn. */
  async drop(row: ClaimedDelivery): Promise<void> {
    const statement = row.kind === 'shown' && row.is_shown ? withdrawOne : drop;
    await this.db.single((tx) => tx.query(statement, keyOf(row)));
  }
}
