import { Injectable } from '@nestjs/common';
import type { MemberKey, RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { boundedPage, jsonBytes, PAGE_BYTES } from '../../platform/bounded-pages/page-bytes.js';
import type { Lifecycle } from './inbox/lifecycle.js';
import type { NotificationState, NotificationEntity } from './notifications.schema.js';

export interface NotificationRow
  extends
    Lifecycle,
    Pick<
      NotificationEntity,
      | 'id'
      | 'type'
      | 'actor_id'
      | 'subject_kind'
      | 'subject_id'
      | 'count'
      | 'data'
      | 'shown'
      | 'created_at'
      | 'updated_at'
    > {
  seq: number;
}

/** Notifications of a user that are no longer of use, and those whose count or actor is another one. */
export interface Outcome {
  userId: string;
  ended: readonly Pick<NotificationRow, 'id' | 'seq'>[];
  changed: readonly Pick<NotificationRow, 'id' | 'seq' | 'count' | 'actor_id' | 'data'>[];
}

export interface RecentNotification extends Pick<NotificationRow, 'id' | 'seq' | 'state' | 'updated_at'> {
  tenant_id: string;
  user_id: string;
  /** Seconds since the last change. */
  age: number;
}

export interface NotificationCounts {
  unread_count: number;
  unseen_count: number;
}

/** Filters and position of a page. */
export interface NotificationFilter {
  states: readonly NotificationState[];
  /** Patterns of LIKE. */
  types: readonly string[] | null;
  beforeSeq: number | null;
}

/** A row of a page; beyond its bytes it has only its id and number. */
export type ListedNotification = NotificationRow & { fits: boolean };

/** Bytes of a notification in a response beside its data: titles and names of other domains. */
const RESPONSE_BYTES = 8_192;

const CONTENT = `type, actor_id, subject_kind, subject_id, count, data, shown, state, previous_state, seen_at, read_at, snooze_until,
  created_at, updated_at`;
const COLUMNS = `id, seq::float8 AS seq, ${CONTENT}`;

// Index notifications_list, read backwards.
const page = workspace.statement<ListedNotification>(
  'notifications.page',
  boundedPage({
    keys: `SELECT id, seq, ${RESPONSE_BYTES} + ${jsonBytes('data')} AS bytes FROM notifications
            WHERE tenant_id = $1 AND user_id = $2 AND shown AND state = ANY ($3::notification_state[])
              AND ($4::text[] IS NULL OR type LIKE ANY ($4)) AND ($5::bigint IS NULL OR seq < $5)
            ORDER BY seq DESC LIMIT $6`,
    order: 'sized.seq DESC',
    limit: '$6',
    bytes: '$7',
    columns: 'sized.id, sized.seq::float8 AS seq, sized.fits, shown.*',
    shown: {
      columns: CONTENT,
      from: 'notifications item WHERE item.tenant_id = $1 AND item.user_id = $2 AND item.id = sized.id',
    },
  }),
  { onReplica: true },
);

const byIds = workspace.statement<NotificationRow>(
  'notifications.by_ids',
  `SELECT ${COLUMNS} FROM notifications WHERE tenant_id = $1 AND user_id = $2 AND id = ANY ($3::uuid[]) ORDER BY seq`,
);

// $2 and $3: a user and a notification of this user at each place.
const ofUsers = workspace.statement<NotificationRow & { user_id: string }>(
  'notifications.of_users',
  `SELECT item.user_id, ${COLUMNS} FROM (SELECT DISTINCT user_id, notification_id FROM unnest($2::uuid[], $3::uuid[]) AS given (user_id, notification_id)) wanted
     JOIN notifications item
       ON item.tenant_id = $1 AND item.user_id = wanted.user_id AND item.id = wanted.notification_id
    ORDER BY item.user_id, item.seq`,
);

// Index: notifications_age.
const recent = workspace.statement<RecentNotification>(
  'notifications.recent',
  `SELECT tenant_id, user_id, id, seq::float8 AS seq, state, updated_at,
          extract(epoch FROM clock_timestamp() - updated_at)::float8 AS age
     FROM notifications
    WHERE updated_at > now() - make_interval(secs => $1) AND shown ORDER BY updated_at`,
  { reach: 'cell' },
);

// Index notifications_list.
const unread = workspace.statement<NotificationRow>(
  'notifications.unread',
  `SELECT ${COLUMNS} FROM notifications
    WHERE tenant_id = $1 AND user_id = $2 AND state = 'unread' AND seq > $3 ORDER BY seq LIMIT $4`,
);

type SettledNotification = Pick<NotificationEntity, 'user_id' | 'id'>;

// $2 and $3: a user and a notification of this user at each place. The order is that in which `notifications.add` locks them too.
const lockAll = workspace.statement<never>(
  'notifications.lock_all',
  `SELECT FROM notifications item
    WHERE item.tenant_id = $1 AND (item.user_id, item.id) IN (SELECT * FROM unnest($2::uuid[], $3::uuid[]))
    ORDER BY item.user_id, item.id FOR NO KEY UPDATE`,
);

// A cause that is added meanwhile gives the notification another number: it is examined again.
const withdraw = workspace.statement<SettledNotification>(
  'notifications.withdraw',
  `UPDATE notifications stored SET state = 'dismissed', previous_state = NULL, snooze_until = NULL, group_key = NULL, email_due_at = NULL,
          updated_at = now()
     FROM jsonb_to_recordset($2) AS ended (user_id uuid, id uuid, seq bigint)
    WHERE stored.tenant_id = $1 AND stored.user_id = ended.user_id AND stored.id = ended.id AND stored.seq = ended.seq
      AND stored.state <> 'dismissed'
   RETURNING stored.user_id, stored.id`,
);

const recount = workspace.statement<SettledNotification>(
  'notifications.recount',
  `UPDATE notifications stored SET count = current.count, actor_id = current.actor_id, data = current.data, updated_at = now()
     FROM jsonb_to_recordset($2) AS current (user_id uuid, id uuid, seq bigint, count int, actor_id uuid, data jsonb)
    WHERE stored.tenant_id = $1 AND stored.user_id = current.user_id AND stored.id = current.id AND stored.seq = current.seq
   RETURNING stored.user_id, stored.id`,
);

const lock = workspace.statement<NotificationRow>(
  'notifications.lock',
  `SELECT ${COLUMNS} FROM notifications WHERE tenant_id = $1 AND user_id = $2 AND id = $3 AND shown FOR UPDATE`,
);

// A notification that is no longer unread leaves its group: further causes create a new notification.
const write = workspace.statement<NotificationRow>(
  'notifications.write',
  `UPDATE notifications SET state = $4, previous_state = $5, seen_at = $6, read_at = $7, snooze_until = $8, updated_at = now(),
          group_key = CASE WHEN $4 = 'unread'::notification_state THEN group_key END
    WHERE tenant_id = $1 AND user_id = $2 AND id = $3 RETURNING ${COLUMNS}`,
);

// Index notifications_unread.
const counts = workspace.statement<NotificationCounts>(
  'notifications.counts',
  `SELECT count(*)::int AS unread_count, (count(*) FILTER (WHERE seen_at IS NULL))::int AS unseen_count
     FROM notifications WHERE tenant_id = $1 AND user_id = $2 AND state = 'unread' AND shown`,
);

const readAll = workspace.statement<Pick<NotificationEntity, 'id'>>(
  'notifications.read_all',
  `UPDATE notifications SET state = 'read', read_at = now(), seen_at = coalesce(seen_at, now()), group_key = NULL, updated_at = now()
    WHERE tenant_id = $1 AND user_id = $2 AND state = 'unread' AND shown AND ($3::text[] IS NULL OR type LIKE ANY ($3))
      AND ($4::bigint IS NULL OR seq <= $4) AND ($5::timestamptz IS NULL OR updated_at <= $5)
   RETURNING id`,
);

// Index notifications_unread.
const settle = workspace.statement<Pick<NotificationEntity, 'id'>>(
  'notifications.settle',
  `UPDATE notifications SET state = 'read', read_at = now(), seen_at = coalesce(seen_at, now()), group_key = NULL,
          email_due_at = NULL, updated_at = now()
    WHERE tenant_id = $1 AND user_id = $2 AND state = 'unread' AND subject_kind = $3 AND subject_id = $4
      AND coalesce((data->>'seq')::bigint, 0) <= $5
   RETURNING id`,
);

// Index notifications_unread.
const unreadAbout = workspace.statement<SettledNotification>(
  'notifications.unread_about',
  `SELECT user_id, id FROM notifications
    WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND state = 'unread' AND subject_kind = $3 AND subject_id = $4
    ORDER BY user_id, id LIMIT $5`,
);

const actors = workspace.statement<{ user_id: string; display_name: string }>(
  'notifications.actors',
  `SELECT user_id, display_name FROM member_profiles WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[])`,
);

const rolesOf = workspace.statement<{ user_id: string; role: 'owner' | 'admin' | 'member' }>(
  'notifications.roles_of',
  `SELECT user_id, role FROM member_profiles WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND status = 'active'`,
);

/** SQL of notifications as their readers see them. */
@Injectable()
export class NotificationsRepository {
  constructor(private readonly db: Db) {}

  async page(
    { tenantId, userId }: MemberKey,
    { states, types, beforeSeq }: NotificationFilter,
    limit: number,
  ): Promise<ListedNotification[]> {
    return this.db.query(page, [tenantId, userId, states, types, beforeSeq, limit, PAGE_BYTES]);
  }

  async byIds(
    reader: Reader,
    { tenantId, userId }: MemberKey,
    ids: readonly string[],
  ): Promise<NotificationRow[]> {
    return reader.query(byIds, [tenantId, userId, ids]);
  }

  /** Notifications of several users, by user. @param wanted user and id of each */
  async ofUsers(
    tenantId: string,
    wanted: readonly { userId: string; id: string }[],
  ): Promise<Map<string, NotificationRow[]>> {
    const users = wanted.map(({ userId }) => userId);
    const ids = wanted.map(({ id }) => id);
    const rows = await this.db.query(ofUsers, [tenantId, users, ids]);
    return Map.groupBy(rows, ({ user_id }) => user_id);
  }

  /** Shown notifications of all users of the current cell that are new or have changed within the last seconds. */
  async listRecent(seconds: number): Promise<RecentNotification[]> {
    return this.db.query(recent, [seconds]);
  }

  /** Unread notifications, also those for e-mail only, in their order. @param afterSeq exclusive */
  async listUnread(
    { tenantId, userId }: MemberKey,
    afterSeq: number,
    limit: number,
  ): Promise<NotificationRow[]> {
    return this.db.query(unread, [tenantId, userId, afterSeq, limit]);
  }

  /**
   * Dismisses notifications of users, whose e-mails are not sent, and changes others, in one transaction.
   * @returns the ids of the changed ones, by user
   */
  async settleEnded(tenantId: string, outcomes: readonly Outcome[]): Promise<Map<string, string[]>> {
    const ended = outcomes.flatMap(({ userId, ended }) => ended.map((row) => ({ user_id: userId, ...row })));
    const changed = outcomes.flatMap(({ userId, changed }) =>
      changed.map((row) => ({ user_id: userId, ...row })),
    );
    const all = [...ended, ...changed];
    if (all.length === 0) return new Map();
    const rows = await this.db.tx(async (tx) => {
      await tx.query(lockAll, [tenantId, all.map(({ user_id }) => user_id), all.map(({ id }) => id)]);
      return [
        ...(ended.length > 0 ? await tx.query(withdraw, [tenantId, JSON.stringify(ended)]) : []),
        ...(changed.length > 0 ? await tx.query(recount, [tenantId, JSON.stringify(changed)]) : []),
      ];
    });
    const ofUser = ([userId, own]: [string, SettledNotification[]]): [string, string[]] => [
      userId,
      own.map(({ id }) => id),
    ];
    return new Map([...Map.groupBy(rows, ({ user_id }) => user_id)].map(ofUser));
  }

  async lock(tx: Tx, { tenantId, userId }: MemberKey, id: string): Promise<NotificationRow | null> {
    return (await tx.query(lock, [tenantId, userId, id]))[0] ?? null;
  }

  async write(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    id: string,
    values: Lifecycle,
  ): Promise<NotificationRow> {
    const { state, previous_state, seen_at, read_at, snooze_until } = values;
    const row = [tenantId, userId, id, state, previous_state, seen_at, read_at, snooze_until];
    return (await tx.query(write, row))[0] as NotificationRow;
  }

  async counts(reader: Reader, { tenantId, userId }: MemberKey): Promise<NotificationCounts> {
    return (await reader.query(counts, [tenantId, userId]))[0] as NotificationCounts;
  }

  /** @returns the number of notifications that were unread */
  async readAll(
    tx: Tx,
    { tenantId, userId }: MemberKey,
    { types, seq, time }: { types: readonly string[] | null; seq: number | null; time: Date | null },
  ): Promise<number> {
    return (await tx.query(readAll, [tenantId, userId, types, seq, time])).length;
  }

  /** Marks notifications about a subject as read. @returns their number */
  async settle(
    { tenantId, userId }: MemberKey,
    { kind, id }: { kind: string; id: string },
    upTo: number,
  ): Promise<number> {
    return (await this.db.single((tx) => tx.query(settle, [tenantId, userId, kind, id, upTo]))).length;
  }

  /** Unread notifications of users about a subject. */
  async unreadAbout(
    tenantId: string,
    userIds: readonly string[],
    { kind, id }: { kind: string; id: string },
    limit: number,
  ): Promise<{ userId: string; id: string }[]> {
    const rows = await this.db.query(unreadAbout, [tenantId, userIds, kind, id, limit]);
    return rows.map((row) => ({ userId: row.user_id, id: row.id }));
  }

  /** @returns display names by user id */
  async actors(reader: Reader, tenantId: string, ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await reader.query(actors, [tenantId, ids]);
    return new Map(rows.map(({ user_id, display_name }) => [user_id, display_name]));
  }

  /** The rights of several users with which jobs read, as `contextOf`. Users who are no active members are missing. */
  async contextsOf(
    tenantId: string,
    userIds: readonly string[],
    requestId: string,
  ): Promise<RequestContext[]> {
    const rows = await this.db.query(rolesOf, [tenantId, userIds]);
    return rows.map(({ user_id: userId, role }) => ({ tenantId, userId, role, sessionId: null, requestId }));
  }

  /**
   * The rights with which jobs read the notifications of a recipient.
   * @param requestId names the job in logs
   * @returns null unless the user is an active member
   */
  async contextOf(member: MemberKey, requestId: string): Promise<RequestContext | null> {
    return (await this.contextsOf(member.tenantId, [member.userId], requestId))[0] ?? null;
  }

  /** @returns null unless the user is an active member */
  async roleOf(
    reader: Reader,
    { tenantId, userId }: MemberKey,
  ): Promise<'owner' | 'admin' | 'member' | null> {
    return (await reader.query(rolesOf, [tenantId, [userId]]))[0]?.role ?? null;
  }
}
