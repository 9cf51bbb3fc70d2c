import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Errors } from '../../../platform/http/errors.js';
import { CalendarErrors } from '../calendar.errors.js';
import { EventsRepository } from '../events.repository.js';
import type { UpdateEvent } from '../input/event.dto.js';
import { attendeesAt, recordIn } from '../model/attendance.js';
import type { CalendarContext, OwnedEntry, ParticipantRow } from '../model/event-record.js';
import { shown, viewerOf } from '../responses/event.presenter.js';
import { changeAll, changeOne } from './event-change.js';
import { moveTarget } from './event-moves.js';
import { entryIn, ownReminders } from './event-operations.js';
import { EventWriter } from './event-writer.js';
import { changedWholeField, changesFor, changesForOne, wholeTimes } from './requested-changes.js';
import type { Updated, UpdateJob } from './update-job.js';

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
    const seen = shown({ record, entry }, viewer, isOne ? key : null);
    return this.writePlacement(job, key, ownChanges(fields, seen), target);
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

  /** Writes only the settings of the placement. */
  async writePlacement(
    job: UpdateJob,
    key: string | null,
    settings: Partial<OwnedEntry> = {},
    target: CalendarContext | null = null,
  ): Promise<Updated> {
    const { tx, ctx, locked, fields } = job;
    const { calendar, record } = locked;
    const before = entryIn(locked.entries, calendar.id);
    const entry: OwnedEntry = {
      ...before,
      ...settings,
      ...ownReminders(fields.reminders, before.reminders),
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

/** The placements with the reminders of the request in this calendar. */
export const withOwn = (
  entries: readonly OwnedEntry[],
  calendarId: string,
  { reminders }: UpdateEvent,
): OwnedEntry[] =>
  entries.map((entry) =>
    entry.calendar_id === calendarId ? { ...entry, ...ownReminders(reminders, entry.reminders) } : entry,
  );
