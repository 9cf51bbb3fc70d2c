import { Injectable } from '@nestjs/common';
import { DAY, readableZone } from '../../lib/recurrence/index.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { HolidaysApi } from '../holidays/index.js';
import { type WorkingHours, WorkingHoursApi } from '../settings/index.js';
import { CalendarErrors } from './calendar.errors.js';
import { EventsRepository, type MemberRow, membersAt } from './events.repository.js';
import { BusyExpansion, type BusySource, type BusyTime } from './model/busy-times.js';
import { type CalendarContext, TIME_FIELDS } from './model/event-record.js';
import { rangeOf } from './model/event-series.js';
import { instantOf, wallText } from './model/event-times.js';

/** A placement in a calendar that counts for availability. */
export interface BusyPlacement extends BusySource {
  event_id: string;
  calendar_id: string;
  owner_id: string;
}

type PlacementRow = Omit<BusyPlacement, 'responses' | 'overrides'> & {
  [key in 'responses' | 'overrides']: BusyPlacement[key] | null;
} & { is_read: boolean };

/** The columns of an instance that decide about busy times. */
const BUSY_FIELDS = [...TIME_FIELDS, 'status', 'show_as'].map((name) => `'${name}'`).join(', ');

/** The most placements of a query, and the most dates and instances with fields of their own in them. */
const MAX_PLACEMENTS = 40_000;
const MAX_PARTS = 200_000;

// Indexes calendar_entries_start and calendar_entries_wide, once for each calendar. Reads only the columns that decide
// about busy times: whole events would take ten times as long to transfer and parse. The parts of events beyond $8 are not read.
const readPlacements = workspace.statement<PlacementRow>(
  'calendar.free_busy',
  `WITH placed AS MATERIALIZED (
     SELECT calendar.id AS calendar_id, calendar.owner_id, calendar.time_zone AS zone, event.id AS event_id, entry.show_as AS own_show_as,
            event.starts, event.ends, event.time_zone, event.end_time_zone, event.exact_duration, event.rules, event.added,
            event.excluded, event.status, event.show_as, event.participants_count, event.overrides_count,
            extract(epoch FROM entry.span_start)::float8 AS span_start,
            CASE WHEN entry.span_end < 'infinity' THEN extract(epoch FROM entry.span_end)::float8 ELSE 'infinity' END AS span_end,
            sum(event.overrides_count + (pg_column_size(event.added) + pg_column_size(event.excluded)) / 16)
              OVER (ROWS UNBOUNDED PRECEDING) <= $8 AS is_read
       FROM calendars calendar
      CROSS JOIN LATERAL (
         SELECT * FROM calendar_entries
          WHERE tenant_id = $1 AND calendar_id = calendar.id AND NOT wide AND NOT hidden
            AND span_start >= $6 AND span_start < $5 AND span_end > $4
         UNION ALL
         SELECT * FROM calendar_entries
          WHERE tenant_id = $1 AND calendar_id = calendar.id AND wide AND NOT hidden
            AND span_start < $5 AND span_end > $4) entry
       JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
      WHERE calendar.tenant_id = $1 AND event.deleted_at IS NULL
        AND ((calendar.owner_id = ANY ($2) AND calendar.affects_free_busy) OR calendar.id = ANY ($3))
      LIMIT $7)
   SELECT calendar_id, owner_id, zone, event_id, own_show_as, span_start AS "spanStart", span_end AS "spanEnd", is_read,
          starts, ends, time_zone, end_time_zone, exact_duration, rules, status, show_as,
          CASE WHEN is_read THEN added END AS added, CASE WHEN is_read THEN excluded END AS excluded,
          CASE WHEN is_read AND participants_count > 0 THEN (
            SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'response', response, 'uninvited', uninvited))
              FROM event_participants
             WHERE tenant_id = $1 AND event_id = placed.event_id AND user_id = placed.owner_id) END AS responses,
          CASE WHEN is_read AND overrides_count > 0 THEN (
            SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'patch', (
                     SELECT coalesce(json_object_agg(key, value), '{}') FROM jsonb_each(patch) WHERE key IN (${BUSY_FIELDS}))))
              FROM event_overrides WHERE tenant_id = $1 AND event_id = placed.event_id) END AS overrides
     FROM placed`,
  { onReplica: true },
);

const readZones = workspace.statement<{ user_id: string; time_zone: string }>(
  'calendar.free_busy_zones',
  `SELECT member.user_id, coalesce(zone.time_zone, calendar.time_zone, 'UTC') AS time_zone
     FROM member_profiles member
     LEFT JOIN member_locales zone ON zone.tenant_id = $1 AND zone.user_id = member.user_id
     LEFT JOIN calendars calendar
       ON calendar.tenant_id = $1 AND calendar.owner_id = member.user_id AND calendar.is_default
    WHERE member.tenant_id = $1 AND member.user_id = ANY ($2)`,
);

const TOO_MANY = 'The window contains too many events. Choose a shorter window or fewer attendees.';

/** Events of several members and calendars at once. */
@Injectable()
export class AvailabilityRepository {
  /**
   * @param users owners of calendars with `affects_free_busy`
   * @param calendars ids of further calendars
   * @param window instants, RFC 3339; `reach` is `from` less the reach of events that are not wide
   * @throws ApiError 422 `window_too_large` for too many events
   */
  async placements(
    reader: Reader,
    tenantId: string,
    users: readonly string[],
    calendars: readonly string[],
    { from, to, reach }: { from: string; to: string; reach: string },
  ): Promise<BusyPlacement[]> {
    const limits = [MAX_PLACEMENTS + 1, MAX_PARTS];
    const rows = await reader.query(readPlacements, [tenantId, users, calendars, from, to, reach, ...limits]);
    if (rows.length > MAX_PLACEMENTS || rows.some((row) => !row.is_read))
      throw CalendarErrors.windowTooLarge.with({ message: TOO_MANY });
    // The rows are changed in place: copies of thousands of rows would double the memory of a request.
    for (const row of rows) {
      row.responses ??= [];
      row.overrides ??= [];
    }
    return rows as BusyPlacement[];
  }

  /** The time zone of each member: the zone of the profile, else of the default calendar. */
  async zones(reader: Reader, tenantId: string, users: readonly string[]): Promise<Map<string, string>> {
    const rows = await reader.query(readZones, [tenantId, users]);
    return new Map(rows.map((row) => [row.user_id, row.time_zone]));
  }
}

/** The address or id of a member, or the id of a calendar. */
export interface SubjectName {
  email?: string;
  user_id?: string;
  calendar_id?: string;
}

/** A member or a calendar whose times are read. Both are null for an unknown name. */
export interface Subject {
  requested: SubjectName;
  member: MemberRow | null;
  calendar: CalendarContext | null;
  zone: string;
  /** Times of the day in `zone`. */
  workingHours: WorkingHours;
  busy: BusyTime[];
  /** See `BusyResult`. */
  isApproximate: boolean;
}

/** Instants in seconds, half-open. */
export interface AvailabilityWindow {
  from: number;
  to: number;
}

/** When members and calendars are busy: their events, and holidays that block time. */
@Injectable()
export class Availability {
  constructor(
    private readonly repository: AvailabilityRepository,
    private readonly events: EventsRepository,
    private readonly holidays: HolidaysApi,
    private readonly workingHours: WorkingHoursApi,
    private readonly db: Db,
  ) {}

  /** The merged busy times of a member, without the events of `excluded`. */
  async ofMember(
    ctx: RequestContext,
    userId: string,
    window: AvailabilityWindow,
    excluded: readonly string[],
    reader: Reader = this.db,
  ): Promise<BusyTime[]> {
    const subjects = await this.subjects(ctx, [{ user_id: userId }], reader);
    await this.fill(ctx, subjects, window, excluded, reader);
    return subjects[0]?.busy ?? [];
  }

  /** Resolves names. The caller sees calendars that they can read. */
  async subjects(
    ctx: RequestContext,
    names: readonly SubjectName[],
    reader: Reader = this.db,
  ): Promise<Subject[]> {
    const ids = names.flatMap(({ user_id }) => user_id?.toLowerCase() ?? []);
    const emails = names.flatMap(({ email }) => email?.toLowerCase() ?? []);
    const members = await this.events.members(reader, ctx.tenantId, ids, emails);
    const byId = new Map(members.map((member) => [member.user_id, member]));
    const byEmail = membersAt(members, emails);
    const zones = await this.repository.zones(reader, ctx.tenantId, [...byId.keys()]);
    const hours = await this.workingHours.readHours(reader, ctx.tenantId, [...byId.keys()]);
    const calendarIds = names.flatMap(({ calendar_id }) => calendar_id?.toLowerCase() ?? []);
    const calendars = await this.events.contexts(reader, ctx, calendarIds);
    return names.map((requested) => {
      const { email, user_id: userId, calendar_id: calendarId } = requested;
      const member =
        (userId ? byId.get(userId.toLowerCase()) : email ? byEmail.get(email.toLowerCase()) : null) ?? null;
      const calendar = (!member && calendarId && calendars.get(calendarId.toLowerCase())) || null;
      const zone = (member ? zones.get(member.user_id) : calendar?.time_zone) ?? 'UTC';
      const workingHours = (member && hours.get(member.user_id)) ?? this.workingHours.usual;
      const known = { zone: readableZone(zone), workingHours, busy: [], isApproximate: false };
      return { requested, member, calendar, ...known };
    });
  }

  /** Reads the events of all subjects at once. Sets the busy times of each subject: events, and holidays that block time. */
  async fill(
    ctx: RequestContext,
    subjects: readonly Subject[],
    { from, to }: AvailabilityWindow,
    excluded: readonly string[],
    reader: Reader = this.db,
  ): Promise<void> {
    const users = [...new Set(subjects.flatMap(({ member }) => member?.user_id ?? []))];
    const calendars = subjects.flatMap(({ calendar }) => calendar?.id ?? []);
    const range = rangeOf({ from, to });
    const placements = await this.repository.placements(reader, ctx.tenantId, users, calendars, range);
    const days = await this.holidays.busyDays(
      ctx.tenantId,
      users,
      wallText(from - DAY, true),
      wallText(to + DAY, true),
      reader,
    );
    const counted = placements.filter(({ event_id: id }) => !excluded.includes(id));
    const byOwner = Map.groupBy(counted, ({ owner_id: id }) => id);
    const byCalendar = Map.groupBy(counted, ({ calendar_id: id }) => id);
    const expansion = new BusyExpansion();
    for (const { member, calendar, zone } of subjects) {
      const own = member ? byOwner.get(member.user_id) : byCalendar.get(calendar?.id ?? '');
      const window = { from, to, readerZone: zone };
      const holidays = (member && days.get(member.user_id)) ?? [];
      const events = (own ?? []).map((event) => ({ ...event, zone: readableZone(event.zone) }));
      expansion.add(
        events,
        { from, to },
        holidays.flatMap((day) => holidayTime(day, window)),
      );
    }
    for (const [n, result] of (await expansion.run()).entries())
      Object.assign(subjects[n] as Subject, result);
  }
}

/** A holiday in the zone of the member, cut to the window. */
function holidayTime(
  { date, end_date: last }: { date: string; end_date: string },
  { from, to, readerZone }: AvailabilityWindow & { readerZone: string },
): BusyTime[] {
  const wall = (text: string): number => Date.parse(text) / 1000;
  const start = Math.max(from, instantOf(wall(date), readerZone));
  const end = Math.min(to, instantOf(wall(last) + DAY, readerZone));
  return end > start ? [{ start, end, type: 'out_of_office' }] : [];
}
