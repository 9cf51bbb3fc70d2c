import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import type { AddedNotifications } from '../../notifications/index.js';
import type { PushAttempt, Urgency } from '../push-sender.js';
import type { PushDelivery } from '../push.schema.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
/** Seconds. */
export const DAY = 24 * HOUR;

/** How messages of a type are sent (RFC 8030, sections 5.2 and 5.3). */
export interface PushTraits {
  urgency: Urgency;
  /** Seconds for which the message is of use. */
  ttl: number;
  /** Seconds between examinations of a message that rings: it is withdrawn soon after it was answered on another device. */
  examined?: number;
}

/** The key is the type of the notification, or the part of it before the dot; all others have `OTHERS`. */
const TRAITS: Readonly<Record<string, PushTraits>> = {
  'call.started': { urgency: 'high', ttl: 45, examined: 3 },
  'guest.waiting': { urgency: 'high', ttl: 10 * MINUTE },
  'chat.mention': { urgency: 'high', ttl: DAY },
  'calendar.reminder': { urgency: 'high', ttl: HOUR },
  security: { urgency: 'high', ttl: DAY },
  form: { urgency: 'low', ttl: DAY },
  report: { urgency: 'low', ttl: DAY },
  recording: { urgency: 'low', ttl: DAY },
};
const OTHERS: PushTraits = { urgency: 'normal', ttl: DAY };

/** Seconds for which the push service keeps a withdrawal for a device that is offline. */
export const WITHDRAWAL_TTL = DAY;
/** A withdrawal has no content that a user waits for. */
export const WITHDRAWAL_URGENCY: Urgency = 'normal';

/** Seconds after which a message is examined once: its notification may have been read while it was sent. */
export const FIRST_EXAMINATION = 30;

/** @param type key of a type of notification */
export const traitsOf = (type: string): PushTraits =>
  TRAITS[type] ?? TRAITS[type.split('.', 1)[0] as string] ?? OTHERS;

/** Seconds between the attempts of a message; the last one also for all further ones, until the message is of no use. */
const DELAYS = [15, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR] as const;
/** Part of a delay by which it varies, so that push services do not get all repetitions at once. */
const JITTER = 0.1;

/**
 * Seconds until the next attempt.
 * @param attempts that have failed, at least 1
 * @param asked seconds that the push service asks for
 */
export function retryAfter(
  attempts: number,
  asked: number | null,
  random: () => number = Math.random,
): number {
  const delay = DELAYS[Math.min(attempts, DELAYS.length) - 1] as number;
  return Math.max(asked ?? 0, delay * (1 - JITTER + 2 * JITTER * random()));
}

/** Another process sends the message after it: it is longer than an attempt. */
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
export type ClaimedDelivery = Omit<PushDelivery, 'due_at' | 'created_at'>;

/**
 * What has happened with a delivery. `sent`: the device has the message, which is examined after `seconds`, or not at all for null.
 * `postponed`: the next attempt is after `seconds`, and the message is of use for `lifetime` seconds from then on; `attempts` have failed.
 * `dropped`: the delivery ends.
 */
export type PushResult = {
  delivery: ClaimedDelivery;
  /** The exchange with the push service; null: none. */
  attempt: PushAttempt | null;
} & (
  | { outcome: 'sent'; seconds: number | null }
  | { outcome: 'postponed'; seconds: number; attempts: number; lifetime?: number }
  | { outcome: 'dropped' }
);

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
  `WITH added AS (
   INSERT INTO push_deliveries AS stored (tenant_id, user_id, subscription_id, notification_id, type, service, expires_at)
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
   RETURNING 1)
   SELECT count(*)::int AS added FROM added`,
);

const shown = workspace.statement<Pick<PushDelivery, 'notification_id'>>(
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

// The rows of each table are locked in the order of their keys. `claims` identifies the lease: after a further cause the
// message is still pending, but the device shows this one. A message that the device shows is withdrawn where its delivery is dropped.
const finish = workspace.statement<never>(
  'push.finish',
  `WITH results AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($2) AS result (
       user_id uuid, subscription_id uuid, notification_id uuid, claims int, outcome text, seconds float8, lifetime float8, attempts int, attempted boolean,
       status int, error text)),
   subscriptions AS MATERIALIZED (
     SELECT subscription.user_id, subscription.id FROM push_subscriptions subscription
      WHERE subscription.tenant_id = $1
        AND (subscription.user_id, subscription.id) IN (SELECT user_id, subscription_id FROM results WHERE attempted)
      ORDER BY subscription.user_id, subscription.id FOR NO KEY UPDATE),
   recorded AS (
     UPDATE push_subscriptions subscription SET attempted_at = now(), status_code = results.status, error = results.error
       FROM subscriptions locked
       JOIN results ON results.user_id = locked.user_id AND results.subscription_id = locked.id AND results.attempted
      WHERE subscription.tenant_id = $1 AND subscription.user_id = locked.user_id AND subscription.id = locked.id),
   deliveries AS MATERIALIZED (
     SELECT delivery.user_id, delivery.subscription_id, delivery.notification_id, delivery.claims = results.claims AS is_leased,
            results.outcome, results.seconds, results.lifetime, results.attempts
       FROM push_deliveries delivery
       JOIN results ON results.user_id = delivery.user_id AND results.subscription_id = delivery.subscription_id
        AND results.notification_id = delivery.notification_id
      WHERE delivery.tenant_id = $1
      ORDER BY delivery.user_id, delivery.subscription_id, delivery.notification_id FOR UPDATE OF delivery),
   dropped AS (
     DELETE FROM push_deliveries delivery USING deliveries locked
      WHERE delivery.tenant_id = $1 AND delivery.user_id = locked.user_id AND delivery.subscription_id = locked.subscription_id
        AND delivery.notification_id = locked.notification_id AND locked.outcome = 'dropped' AND locked.is_leased)
   UPDATE push_deliveries delivery
      SET is_shown = delivery.is_shown OR locked.outcome = 'sent',
          kind = CASE WHEN locked.outcome = 'withdrawn' THEN 'dismissed' ELSE delivery.kind END,
          state = CASE WHEN locked.outcome = 'sent' AND locked.is_leased THEN 'sent'
                       WHEN locked.outcome = 'withdrawn' THEN 'pending' ELSE delivery.state END,
          claims = CASE WHEN locked.outcome = 'withdrawn' THEN delivery.claims + 1 ELSE delivery.claims END,
          expires_at = CASE WHEN locked.outcome = 'withdrawn' THEN now() + make_interval(secs => ${WITHDRAWAL_TTL})
                            WHEN locked.is_leased AND locked.lifetime IS NOT NULL
                            THEN clock_timestamp() + make_interval(secs => locked.seconds + locked.lifetime)
                            ELSE delivery.expires_at END,
          attempts = CASE WHEN locked.is_leased THEN locked.attempts ELSE delivery.attempts END,
          due_at = CASE WHEN NOT locked.is_leased THEN delivery.due_at
                        ELSE coalesce(clock_timestamp() + make_interval(secs => locked.seconds), 'infinity') END
     FROM deliveries locked
    WHERE delivery.tenant_id = $1 AND delivery.user_id = locked.user_id AND delivery.subscription_id = locked.subscription_id
      AND delivery.notification_id = locked.notification_id
      AND (locked.outcome = 'sent' OR locked.outcome IN ('postponed', 'withdrawn') AND locked.is_leased)`,
);

const forget: Sweep = workspace.statement(
  'push.forget_deliveries',
  deletion('push_deliveries', `created_at < now() - interval '${KEPT_DAYS} days'`),
  { reach: 'cell' },
);

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
    return (await tx.query(add, values))[0]?.added ?? 0;
  }

  /** The notifications that devices of the user show, the newest ones. */
  async readShown({ tenantId, userId }: MemberKey): Promise<string[]> {
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

  /** Records results of deliveries of a workspace. */
  async finish(tenantId: string, results: readonly PushResult[]): Promise<void> {
    const rows = results.map(({ delivery, attempt, ...result }) => ({
      user_id: delivery.user_id,
      subscription_id: delivery.subscription_id,
      notification_id: delivery.notification_id,
      claims: delivery.claims,
      outcome: isShownStill(delivery, result) ? 'withdrawn' : result.outcome,
      seconds: result.outcome === 'dropped' ? 0 : result.seconds,
      lifetime: result.outcome === 'postponed' ? (result.lifetime ?? null) : null,
      attempts: result.outcome === 'postponed' ? result.attempts : 0,
      attempted: attempt !== null,
      status: attempt?.statusCode ?? null,
      error: attempt?.error ?? null,
    }));
    await this.db.single((tx) => tx.query(finish, [tenantId, JSON.stringify(rows)]));
  }
}

/** The device shows an earlier message of a notification whose delivery ends. */
const isShownStill = (
  { kind, is_shown }: ClaimedDelivery,
  { outcome }: Pick<PushResult, 'outcome'>,
): boolean => outcome === 'dropped' && kind === 'shown' && is_shown;
