import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Errors } from '../../../platform/http/errors.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository } from '../events.repository.js';
import { contentOf, hasTimes, invalidField, recurrenceOf, timesOf } from '../input/event-patch.js';
import type { UpdateEvent } from '../input/event.dto.js';
import { attendeesAt, recordIn } from '../model/attendance.js';
import { ownAlarms } from '../model/dependent-properties.js';
import type {
  CalendarContext,
  EventContent,
  EventRecord,
  EventTimes,
  OwnedEntry,
  ParticipantRow,
} from '../model/event-record.js';
import { clockTimes, contentOf as contentAt, isSeries, occurrenceOf } from '../model/event-series.js';
import { instantOf, isDay, lengthAt, timesAt, wallIn, wallOf } from '../model/event-times.js';
import { presentEvent, viewerOf } from '../responses/event.presenter.js';
import { withCallOf } from './event-calls.js';
import { changeAll, changeOne, type Changes, findUnmovableRule, movedRecurrence } from './event-change.js';
import { entryIn, requestedReminders } from './event-operations.js';
import { remindersAt, withRemindersAt } from '../model/instance-alarms.js';
import { EventWriter } from './event-writer.js';
import { moveTarget, type Updated, type UpdateJob } from './update-job.js';

/** Fields that only the whole event has. */
const WHOLE_ONLY = ['recurrence', 'rrule', 'proposals_allowed'] as const;

/** The field of the whole event that a request about an instance changes. It may repeat the values in a response for the instance. */
export function changedWholeField(
  { proposals_allowed }: EventRecord,
  fields: UpdateEvent,
): (typeof WHOLE_ONLY)[number] | undefined {
  const shown = { recurrence: null, rrule: null, proposals_allowed };
  return WHOLE_ONLY.find((name) => fields[name] !== undefined && fields[name] !== shown[name]);
}

/** The changes of a request to a whole event, without its attendees. */
export function changesFor(record: EventRecord, fields: UpdateEvent, times: EventTimes | undefined): Changes {
  const { proposals_allowed } = fields;
  const current = times ?? record;
  const recurrence = recurrenceOf(fields, current, movedRecurrence(record, current));
  return {
    content: withCallOf(record, contentOf(fields)),
    times,
    recurrence,
    ...(proposals_allowed !== undefined && { proposals_allowed }),
  };
}

/**
 * @throws ApiError 422 `rule_not_moved` for a request that moves a series and does not state its rules, one of which names days or hours that
 *   have no place in the moved series
 */
export function assertRulesMove(record: EventRecord, fields: UpdateEvent, times: EventTimes): void {
  const { recurrence, rrule } = fields;
  if (recurrence === null || recurrence?.rules !== undefined || rrule !== undefined) return;
  const rule = findUnmovableRule(record, times);
  if (rule === undefined) return;
  const message = `${rule} names days or hours that do not move with the start: send the new rule.`;
  const details = [{ field: 'recurrence.rules', code: 'rule_not_moved', message }];
  throw CalendarErrors.ruleNotMoved.with({ message, details });
}

/** The changes of a request to one instance. A value that the request repeats keeps following the series. */
export function changesForOne(record: EventRecord, fields: UpdateEvent, key: string, zone: string): Changes {
  const occurrence = occurrenceOf(record, key, 'UTC');
  const before: EventContent = occurrence ? contentAt(record, occurrence) : record;
  const content = Object.entries(withCallOf(record, contentOf(fields))).filter(
    ([name, value]) => !isDeepStrictEqual(value, before[name as keyof EventContent]),
  );
  const current = instanceTimes(record, key);
  const times = hasTimes(fields) ? requestedTimes(fields, current, zone) : current;
  return { content: Object.fromEntries(content), times: times === current ? undefined : times };
}

/**
 * The times of a whole event after a request.
 * @param key the instance whose times the request contains: the series moves by the same time as this instance. Null means the first
 *   instance
 */
export function wholeTimes(
  record: EventRecord,
  fields: UpdateEvent,
  key: string | null,
  zone: string,
): EventTimes | undefined {
  if (!hasTimes(fields)) return undefined;
  if (key === null) return requestedTimes(fields, record, zone, isSeries(record));
  const times = requestedTimes(fields, instanceTimes(record, key), zone);
  const isDate = isDay(times.starts);
  const start =
    isDate === isDay(record.starts)
      ? wallOf(record.starts) + shiftOf(record, times, key)
      : wallOf(record.starts.slice(0, 10)) + wallOf(times.starts) - wallOf(key.slice(0, 10));
  return { ...times, ...timesAt(times, start) };
}

/**
 * The times of an event or an instance after a request. A request that repeats the times of a response changes nothing, so
 * it keeps the responses of attendees.
 * @param isPattern a series, whose response states its start and end without clock changes
 */
function requestedTimes(
  fields: UpdateEvent,
  current: EventTimes,
  zone: string,
  isPattern = false,
): EventTimes {
  const times = timesOf(fields, current, zone);
  const wall = wallOf(current.starts);
  const start = instantOf(wall, current.time_zone);
  const clock = clockTimes(current, { start, end: start + lengthAt(current, wall, start) }, 'UTC');
  const isRepeated =
    times.starts === (isPattern ? current.starts : clock.starts) &&
    times.ends === (isPattern && !current.exact_duration ? current.ends : clock.ends) &&
    times.time_zone === current.time_zone &&
    times.end_time_zone === current.end_time_zone &&
    (times.exact_duration === current.exact_duration || Boolean(fields.end));
  return isRepeated ? current : times;
}

function instanceTimes(record: EventRecord, key: string): EventTimes {
  const occurrence = occurrenceOf(record, key, 'UTC');
  const { starts, ends, time_zone, end_time_zone, exact_duration } = occurrence
    ? contentAt(record, occurrence)
    : record;
  return { starts, ends, time_zone, end_time_zone, exact_duration };
}

/**
 * How far a request moves an instance, seconds. The response shows an instance in the gap of a clock change at its later wall
 * time, so a request that repeats this time moves nothing.
 */
function shiftOf({ time_zone: zone }: EventTimes, times: EventTimes, key: string): number {
  const [nominal, requested] = [wallOf(key), wallOf(times.starts)];
  const isRepeated =
    zone !== null && times.time_zone === zone && requested === wallIn(zone, instantOf(nominal, zone));
  return isRepeated ? 0 : requested - nominal;
}

/** Settings that each user has for an event in a calendar of their own: reminders, colour, `show_as`, and the calendar. */
@Injectable()
export class OwnSettings {
  constructor(
    private readonly events: EventsRepository,
    private readonly writer: EventWriter,
  ) {}

  /**
   * An attendee's own settings: reminders, colour, show_as, and the calendar in which the event is shown. A request may repeat the
   * other values of a response.
   * @param isOne the request is about the instance `key` only
   * @throws ApiError 403 `not_organizer`
   */
  async update(job: UpdateJob, key: string | null, isOne: boolean): Promise<Updated> {
    const { ctx, locked, fields } = job;
    const { calendar, record } = locked;
    if (await this.changesEvent(job, key, isOne)) throw CalendarErrors.notOrganizer.with();
    const target = await moveTarget(this.events, job);
    if (target && (target.owner_id !== ctx.userId || calendar.owner_id !== ctx.userId))
      throw Errors.forbidden.with();
    const viewer = viewerOf(ctx, calendar);
    const entry = entryIn(locked.entries, calendar.id);
    const seen = presentEvent({ record, entry }, viewer, isOne ? key : null);
    return this.writePlacement(job, key, isOne, ownChanges(fields, seen), target);
  }

  private async changesEvent(job: UpdateJob, key: string | null, isOne: boolean): Promise<boolean> {
    const { tx, ctx, locked, now } = job;
    const { time_zone: zone } = locked.calendar;
    const record = recordIn(locked.record, locked.calendar);
    const fields = { ...job.fields, color: undefined, show_as: undefined };
    if (fields.attendees !== undefined) {
      const current = attendeesAt(record, isOne ? key : null).map((row) => ({ ...row, recurrence_key: '' }));
      const wanted = await this.writer.participants(tx, ctx, fields.attendees, record, current);
      if (!isDeepStrictEqual(invitationsOf(wanted), invitationsOf(current))) return true;
    }
    if (!isOne)
      return (
        changeAll(record, changesFor(record, fields, wholeTimes(record, fields, key, zone)), now) !== null
      );
    const changes = changesForOne(record, fields, key as string, zone);
    return (
      changedWholeField(record, fields) !== undefined ||
      changeOne(record, key as string, changes, now) !== null
    );
  }

  /** Writes only the settings of the placement. @param isOne the request is about the instance `key` only */
  async writePlacement(
    job: UpdateJob,
    key: string | null,
    isOne: boolean,
    settings: Partial<OwnedEntry> = {},
    target: CalendarContext | null = null,
  ): Promise<Updated> {
    const { tx, ctx, locked, fields } = job;
    const { calendar, record } = locked;
    const before = entryIn(locked.entries, calendar.id);
    const entry: OwnedEntry = {
      ...before,
      ...settings,
      ...ownReminders(record, before, fields, isOne ? key : null),
      ...(target && { calendar_id: target.id }),
    };
    if (JSON.stringify(entry) !== JSON.stringify(before))
      await this.writer.commitEntry(tx, ctx, record, entry, target ? calendar.id : undefined);
    return { calendar: target ?? calendar, record, entry, key, later: null };
  }
}

/** Colour and `show_as` of a request. A value that it repeats keeps following the event. */
function ownChanges(
  { color, show_as }: UpdateEvent,
  seen: Pick<UpdateEvent, 'color' | 'show_as'>,
): Partial<OwnedEntry> {
  const lower = color?.toLowerCase() ?? null;
  return {
    ...(color !== undefined && lower !== seen.color && { color: lower }),
    ...(show_as !== undefined && show_as !== seen.show_as && { show_as }),
  };
}

/** What an organizer states about attendees. */
const invitationsOf = (rows: readonly ParticipantRow[]) =>
  rows
    .map(({ email, role, kind, rsvp }) => [email, role, kind, rsvp] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

/** The placements with the reminders of the request in this calendar. @param key of the instance that it is about; null: all */
export const withOwn = (
  { record, entries }: Pick<UpdateJob['locked'], 'record' | 'entries'>,
  calendarId: string,
  fields: UpdateEvent,
  key: string | null = null,
): OwnedEntry[] =>
  entries.map((entry) =>
    entry.calendar_id === calendarId ? { ...entry, ...ownReminders(record, entry, fields, key) } : entry,
  );

function ownReminders(
  record: EventRecord,
  entry: OwnedEntry,
  { reminders }: UpdateEvent,
  key: string | null,
): Partial<Pick<OwnedEntry, 'reminders' | 'instance_alarms'>> {
  if (reminders === undefined) return {};
  const requested = requestedReminders(reminders, remindersAt(entry, key));
  if (key === null) return { reminders: requested };
  const others = ownAlarms(record, entry.calendar_id, entry.alarms);
  const changed = withRemindersAt(entry, key, requested, others);
  if (changed) return changed;
  throw invalidField('reminders', 'too_many', 'of too many instances differ from those of their series');
}
