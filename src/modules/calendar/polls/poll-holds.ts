import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { DAY } from '../../../lib/recurrence/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ApiError } from '../../../platform/http/errors.js';
import { Checked } from '../../../platform/http/input.pipe.js';
import { EventBatch } from '../changes/event-batch.js';
import { EventOperations } from '../changes/event-operations.js';
import { EventRemovals } from '../changes/event-removals.js';
import { type EventChange, newEntry } from '../changes/event-write.js';
import { EventWriter } from '../changes/event-writer.js';
import { EventsRepository, assertVisible } from '../events.repository.js';
import { CreateEvent, DeleteEvent } from '../input/event.dto.js';
import type { CalendarContext } from '../model/event-record.js';
import { isDay, parseInstant, placeIn, wallOf, wallText } from '../model/event-times.js';
import type { OptionRow, PollRow } from './poll-record.js';

interface Place {
  calendar_id: string;
  event_id: string;
}

const places = workspace.statement<Place>(
  'calendar.poll_places',
  `SELECT event.origin_calendar_id AS calendar_id, event.id AS event_id FROM calendar_events event
    WHERE event.tenant_id = $1 AND event.id = ANY ($2) AND event.deleted_at IS NULL ORDER BY event.id`,
);

/** Tentative events that keep the times of the options of a poll free. */
@Injectable()
export class PollHolds {
  constructor(
    private readonly events: EventsRepository,
    private readonly operations: EventOperations,
    private readonly removals: EventRemovals,
    private readonly batch: EventBatch,
    private readonly writer: EventWriter,
  ) {}

  /**
   * The calendar of a poll: the named one, else the default calendar of the caller.
   * @throws ApiError 404; 403 `forbidden`
   */
  async calendar(tx: Tx, ctx: RequestContext, id: string | null): Promise<CalendarContext> {
    const chosen = id ?? (await this.events.defaultCalendars(tx, ctx.tenantId, [ctx.userId])).get(ctx.userId);
    const calendar = assertVisible(chosen === undefined ? null : await this.events.context(tx, ctx, chosen));
    this.operations.assertWriter(calendar);
    return calendar;
  }

  /** Creates an event for each option in one statement. @returns the options with the ids of their events */
  async create(
    tx: Tx,
    ctx: RequestContext,
    calendar: CalendarContext,
    poll: Pick<PollRow, 'title' | 'location' | 'time_zone'>,
    options: readonly OptionRow[],
  ): Promise<OptionRow[]> {
    const now = new Date().toISOString();
    const changes = options.map((option): EventChange => {
      const fields = Object.assign(new CreateEvent(), {
        title: poll.title,
        location: poll.location,
        status: 'tentative',
        show_as: 'tentative',
        ...timesOfOption(option, poll.time_zone),
      });
      const record = this.operations.draft(ctx, calendar, fields, [], now);
      const entry = { ...newEntry(record, calendar.id, calendar.owner_id), reminders: [] };
      return { before: null, record, entries: [entry], action: 'created' };
    });
    await this.writer.commit(tx, ctx, changes, now);
    return options.map((option, n) => ({ ...option, hold_event_id: (changes[n] as EventChange).record.id }));
  }

  /** The calendars in which the existing ones of these events are now, by id of the event. */
  places(tx: Tx, { tenantId }: RequestContext, ids: readonly string[]): Promise<Place[]> {
    return tx.query(places, [tenantId, ids]);
  }

  /** Deletes the events that still exist and that the caller may delete, also in other calendars to which they were moved. */
  async release(tx: Tx, ctx: RequestContext, options: readonly OptionRow[]): Promise<void> {
    const ids = options.flatMap(({ hold_event_id: id }) => id ?? []);
    if (ids.length === 0) return;
    const held = await this.places(tx, ctx, ids);
    const calendars = held.map(({ calendar_id }) => calendar_id);
    await this.batch.lockEvents(tx, ctx, ids, calendars);
    await this.batch.lockCalendars(tx, ctx, ids, calendars);
    if (!isDeepStrictEqual(await this.places(tx, ctx, ids), held)) throw new ConcurrentChangeError('holds');
    const silent = Checked.of(DeleteEvent, { send_updates: 'none' });
    for (const { event_id: id, calendar_id: calendarId } of held)
      try {
        await this.removals.remove(tx, ctx, calendarId, { id, instance: null }, null, silent);
      } catch (error) {
        // An event stays if the caller may no longer write in its calendar.
        if (!(error instanceof ApiError && [403, 404].includes(error.kind.status))) throw error;
      }
  }
}

/** The times of an option as times of an event, in the zone of the poll. The end of days is exclusive. */
export function timesOfOption({ starts, ends }: OptionRow, zone: string) {
  if (isDay(starts)) return { start: { date: starts }, end: { date: wallText(wallOf(ends) + DAY, true) } };
  const time = (text: string) => {
    const place = placeIn(zone, parseInstant(text) as number);
    return { date_time: wallText(place.wall, false), time_zone: place.zone };
  };
  return { start: time(starts), end: time(ends) };
}
