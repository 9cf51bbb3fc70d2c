import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { boundedPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { throwQuotaError } from '../../../platform/quotas/row-quota.js';
import { Calendar, type CalendarEntry, CalendarPreference, CalendarShare } from '../calendar.schema.js';
import type { CalendarResponse, CalendarShareResponse } from '../responses/event.response.js';

/** A calendar as the response shows it to a user, with the shares of deleted groups, which have no name. */
export interface CalendarRow extends Omit<CalendarResponse, 'sync_token' | 'shares'> {
  shares: (Omit<CalendarShareResponse, 'name'> & { name: string | null })[];
  own_color: string | null;
  change_seq: number;
  /** Sort key. */
  rank: number;
}

/** A calendar of a page; beyond the bytes of the page it has only its keys. */
export type ListedCalendar = CalendarRow & { fits: boolean };

const lockOwned = workspace.lock('calendar.lock_owner', 'calendars of', 2);

const CONTENT = `calendar.name, calendar.description, coalesce(own.color, calendar.color) AS color,
  calendar.time_zone, CASE WHEN calendar.owner_id = $2 THEN 'own' ELSE 'shared' END AS kind,
  calendar.is_default AND calendar.owner_id = $2 AS is_default, access.role,
  json_build_object('id', calendar.owner_id, 'name', owner.display_name, 'email', owner.email) AS owner,
  coalesce(own.hidden, false) AS hidden, own.position AS "order", calendar.default_reminders,
  coalesce(CASE WHEN access.role = 'owner' THEN (
    SELECT json_agg(json_build_object(
             'user_id', CASE WHEN share.grantee_kind = 'user' THEN share.grantee_id END,
             'group_id', CASE WHEN share.grantee_kind = 'group' THEN share.grantee_id END,
             'name', coalesce(grantee.display_name, grantees.name, CASE WHEN share.grantee_kind = 'user' THEN '' END),
             'role', share.role)
             ORDER BY share.created_at, share.grantee_id)
      FROM calendar_shares share
      LEFT JOIN member_profiles grantee ON share.grantee_kind = 'user'
        AND grantee.tenant_id = share.tenant_id AND grantee.user_id = share.grantee_id
      LEFT JOIN group_names grantees ON share.grantee_kind = 'group'
        AND grantees.tenant_id = share.tenant_id AND grantees.id = share.grantee_id
     WHERE share.tenant_id = calendar.tenant_id AND share.calendar_id = calendar.id) END, '[]') AS shares,
  calendar.affects_free_busy, calendar.revision, rfc3339(calendar.created_at) AS created_at,
  rfc3339(calendar.updated_at) AS updated_at, own.color AS own_color, calendar.change_seq::float8 AS change_seq`;

const FROM = `calendars calendar
  JOIN member_profiles owner ON owner.tenant_id = calendar.tenant_id AND owner.user_id = calendar.owner_id
  LEFT JOIN calendar_preferences own
    ON own.tenant_id = calendar.tenant_id AND own.user_id = $2 AND own.calendar_id = calendar.id`;

const list = workspace.statement<ListedCalendar>(
  'calendar.list_calendars',
  boundedPage({
    keys: `SELECT calendar.id, access.role, coalesce(own.position, 1e300) AS rank, 2048 + octet_length(calendar.description)
                  + 512 * (SELECT count(*) FROM calendar_shares share
                            WHERE share.tenant_id = calendar.tenant_id AND share.calendar_id = calendar.id) AS bytes
             FROM (SELECT calendar_id, max(role) AS role FROM calendar_access
                    WHERE tenant_id = $1 AND user_id = $2 GROUP BY calendar_id) access
             JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = access.calendar_id
             LEFT JOIN calendar_preferences own
               ON own.tenant_id = $1 AND own.user_id = $2 AND own.calendar_id = calendar.id
            WHERE ($3 OR NOT coalesce(own.hidden, false))
              AND ($4::float8 IS NULL OR (coalesce(own.position, 1e300), calendar.id) > ($4, $5::uuid))
            ORDER BY coalesce(own.position, 1e300), calendar.id LIMIT $6`,
    order: 'sized.rank, sized.id',
    limit: '$6',
    bytes: '$7',
    columns: 'sized.id, sized.rank, sized.fits, shown.*',
    shown: {
      columns: CONTENT,
      from: `${FROM} CROSS JOIN LATERAL (SELECT sized.role) access WHERE calendar.tenant_id = $1 AND calendar.id = sized.id`,
    },
  }),
);

const read = workspace.statement<CalendarRow>(
  'calendar.read_calendar',
  `SELECT calendar.id, ${CONTENT}, coalesce(own.position, 1e300) AS rank FROM ${FROM}
     CROSS JOIN LATERAL (SELECT calendar_role_of($1, calendar.id, calendar.owner_id, $2) AS role) access
    WHERE calendar.tenant_id = $1 AND calendar.id = $3 AND access.role IS NOT NULL`,
);

const hasDefault = workspace.statement<{ found: boolean }>(
  'calendar.has_default',
  `SELECT EXISTS (SELECT FROM calendars WHERE tenant_id = $1 AND owner_id = $2 AND is_default) AS found`,
);

const grantees = workspace.statement<{ id: string }>(
  'calendar.grantees',
  `SELECT user_id AS id FROM member_profiles WHERE tenant_id = $1 AND user_id = ANY ($2) AND status = 'active'
   UNION ALL SELECT id FROM group_names WHERE tenant_id = $1 AND id = ANY ($3)`,
);

const lockAll = workspace.statement<never>('calendar.lock_all', `SELECT calendar_lock_all($1, $2, $3)`);

const remove = workspace.statement<never>(
  'calendar.delete_calendar',
  `SELECT calendar_delete($1, $2, $3, $4)`,
);

const twins = workspace.statement<Pick<CalendarEntry, 'event_id'>>(
  'calendar.twins_of_entries',
  `SELECT other.event_id FROM calendar_entries entry
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id AND event.deleted_at IS NULL
     JOIN calendar_entries other ON other.tenant_id = $1 AND other.calendar_id = $3 AND other.uid = entry.uid
      AND other.event_id <> entry.event_id
    WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 LIMIT 1`,
);

const lock = workspace.statement<never>(
  'calendar.lock_calendar',
  `SELECT FROM calendars WHERE tenant_id = $1 AND (id = $2 OR (owner_id = $3 AND is_default))
    ORDER BY id FOR NO KEY UPDATE`,
);

export type Grantee = Pick<CalendarShare, 'grantee_kind' | 'grantee_id' | 'role'>;

const rescheduleReminders = workspace.statement<never>(
  'calendar.reschedule_reminders',
  `UPDATE calendar_entries SET next_reminder_at = now()
    WHERE tenant_id = $1 AND calendar_id = $2 AND NOT hidden AND span_end > now()`,
);

/** Calendars, their shares and the settings of their users. */
@Injectable()
export class CalendarsRepository {
  list(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    withHidden: boolean,
    after: readonly [number, string] | undefined,
    limit: number,
  ): Promise<ListedCalendar[]> {
    return reader.query(list, [tenantId, userId, withHidden, after?.[0], after?.[1], limit, PAGE_BYTES]);
  }

  async find(reader: Reader, ctx: RequestContext, id: string): Promise<CalendarRow | null> {
    return (await reader.query(read, [ctx.tenantId, ctx.userId, id]))[0] ?? null;
  }

  async hasDefault(reader: Reader, ctx: RequestContext): Promise<boolean> {
    return (await reader.query(hasDefault, [ctx.tenantId, ctx.userId]))[0]?.found ?? false;
  }

  /** The number of the caller's own calendars. Serialises their creation until the end of the transaction. */
  async count(tx: Tx, ctx: RequestContext): Promise<number> {
    await tx.query(lockOwned, [ctx.tenantId, ctx.userId]);
    return rowsOf(tx, Calendar).count({ tenant_id: ctx.tenantId, owner_id: ctx.userId });
  }

  /** Ids of the active members and groups of the workspace among these. */
  async knownGrantees(
    reader: Reader,
    tenantId: string,
    users: string[],
    groups: string[],
  ): Promise<Set<string>> {
    return new Set((await reader.query(grantees, [tenantId, users, groups])).map((row) => row.id));
  }

  /** Null means that the id is taken in this workspace. */
  async insert(tx: Tx, values: ColumnValues<Calendar>): Promise<Calendar | null> {
    return rowsOf(tx, Calendar).insert(values);
  }

  /** Locks a calendar for a change, by `withDefault` also the default calendar of the caller. */
  async lock(tx: Tx, ctx: RequestContext, id: string, withDefault: boolean): Promise<void> {
    await tx.query(lock, [ctx.tenantId, id, withDefault ? ctx.userId : null]);
  }

  /** Changes a calendar and raises its revision. */
  async update(tx: Tx, tenantId: string, id: string, values: ColumnValues<Calendar>): Promise<void> {
    const managed = { revision: () => 'revision + 1', updated_at: () => 'clock_timestamp()' };
    await rowsOf(tx, Calendar).update({ tenant_id: tenantId, id }, { ...values, ...managed });
  }

  /** Afterwards no calendar of the owner is the default one. */
  async clearDefault(tx: Tx, tenantId: string, ownerId: string): Promise<void> {
    await rowsOf(tx, Calendar).update(
      { tenant_id: tenantId, owner_id: ownerId, is_default: true },
      { is_default: false },
    );
  }

  /** Makes the reminder clock check all events of the calendar that are not over. */
  async rescheduleReminders(tx: Tx, tenantId: string, calendarId: string): Promise<void> {
    await tx.query(rescheduleReminders, [tenantId, calendarId]);
  }

  async replaceShares(
    tx: Tx,
    tenantId: string,
    calendarId: string,
    shares: readonly Grantee[],
  ): Promise<void> {
    const rows = rowsOf(tx, CalendarShare);
    await rows.delete({ tenant_id: tenantId, calendar_id: calendarId });
    for (const share of shares)
      await rows.insert({
        ...share,
        tenant_id: tenantId,
        calendar_id: calendarId,
        created_at: () => 'clock_timestamp()',
      });
  }

  async prefer(tx: Tx, settings: CalendarPreference): Promise<void> {
    await rowsOf(tx, CalendarPreference).store(['tenant_id', 'user_id', 'calendar_id'], { ...settings });
  }

  /** Locks the rows that {@link delete} changes. */
  async lockAll(tx: Tx, ctx: RequestContext, id: string, target: string | null): Promise<void> {
    await tx.query(lockAll, [ctx.tenantId, id, target]);
  }

  /** An event of the target whose uid another event of the calendar has. The caller holds the locks of {@link lockAll}. */
  async findTwin(tx: Tx, tenantId: string, id: string, target: string): Promise<string | null> {
    return (await tx.query(twins, [tenantId, id, target]))[0]?.event_id ?? null;
  }

  /** @param target receives the events; null: they are cancelled. @throws ApiError 409 `quota_exceeded` */
  async delete(tx: Tx, ctx: RequestContext, id: string, target: string | null): Promise<void> {
    await tx.query(remove, [ctx.tenantId, id, target, ctx.userId]).catch(throwQuotaError);
  }
}
