import { Injectable } from '@nestjs/common';
import { DAY, readableZone } from '../../lib/recurrence/index.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Reader } from '../../platform/database/tx.js';
import { HolidaysApi } from '../holidays/index.js';
import { type WorkingHours, WorkingHoursApi } from '../settings/index.js';
import { AvailabilityRepository } from './availability.repository.js';
import { BusyExpansion } from './model/busy-expansion.js';
import type { BusyTime } from './model/busy-times.js';
import type { CalendarContext } from './model/event-record.js';
import { rangeOf } from './model/event-series.js';
import { instantOf, wallText } from './model/event-times.js';
import { EventsRepository, type MemberRow } from './events.repository.js';

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
    const byEmail = new Map(members.map((member) => [member.email, member]));
    const zones = await this.repository.zones(reader, ctx.tenantId, [...byId.keys()]);
    const hours = await this.workingHours.of(reader, ctx.tenantId, [...byId.keys()]);
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
