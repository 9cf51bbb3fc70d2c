import { Injectable } from '@nestjs/common';
import { Errors } from '../../../platform/http/errors.js';
import { CalendarErrors } from '../calendar.errors.js';
import type { UpdateEvent } from '../input/event.dto.js';
import { contentOf } from '../input/event-patch.js';
import type { CalendarContext, EventRecord, OwnedEntry } from '../model/event-record.js';
import { EventMoves } from './event-moves.js';
import { entryIn, ownReminders } from './event-operations.js';
import { EventWriter } from './event-writer.js';
import type { Updated, UpdateJob } from './update-job.js';

/** Settings that each user has for an event in a calendar of their own: reminders, colour, `show_as`, and the calendar. */
@Injectable()
export class OwnSettings {
  constructor(
    private readonly moves: EventMoves,
    private readonly writer: EventWriter,
  ) {}

  /** An attendee's own settings: reminders, colour, show_as, and the calendar in which the event is shown. */
  async update(job: UpdateJob, key: string | null): Promise<Updated> {
    const { ctx, locked, fields } = job;
    const { calendar, record } = locked;
    const { color: _color, show_as: _showAs, ...shared } = contentOf(fields);
    const others = {
      ...shared,
      ...pick(fields, ['start', 'end', 'duration', 'recurrence', 'rrule', 'attendees', 'proposals_allowed']),
    };
    if (Object.keys(others).length > 0) throw CalendarErrors.notOrganizer.with();
    const target = await this.moves.target(job);
    if (target && (target.owner_id !== ctx.userId || calendar.owner_id !== ctx.userId))
      throw Errors.forbidden.with();
    return target ? this.writePlacement(job, key, target) : this.writePlacement(job, key, undefined, record);
  }

  /** Writes only the settings of the placement. */
  async writePlacement(
    job: UpdateJob,
    key: string | null,
    target?: CalendarContext,
    own?: EventRecord,
  ): Promise<Updated> {
    const { tx, ctx, locked, fields } = job;
    const { calendar, record } = locked;
    const before = entryIn(locked.entries, calendar.id);
    const settings = own || target ? pickOwn(fields) : {};
    const entry: OwnedEntry = {
      ...before,
      ...settings,
      ...ownReminders(fields.reminders),
      ...(target && { calendar_id: target.id }),
    };
    if (JSON.stringify(entry) !== JSON.stringify(before))
      await this.writer.commitEntry(tx, ctx, record, entry, target && calendar.id);
    return { calendar: target ?? calendar, record, entry, key, later: null };
  }
}

const pickOwn = ({ color, show_as }: UpdateEvent): Partial<OwnedEntry> => ({
  ...(color !== undefined && { color: color?.toLowerCase() ?? null }),
  ...(show_as !== undefined && { show_as }),
});

function pick(fields: UpdateEvent, names: readonly (keyof UpdateEvent)[]): object {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** The placements with the reminders of the request in this calendar. */
export const withOwn = (
  entries: readonly OwnedEntry[],
  calendarId: string,
  { reminders }: UpdateEvent,
): OwnedEntry[] =>
  entries.map((entry) =>
    entry.calendar_id === calendarId ? { ...entry, ...ownReminders(reminders) } : entry,
  );
