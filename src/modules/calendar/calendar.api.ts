import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Reader } from '../../platform/database/tx.js';
import { CalendarErrors } from './calendar.errors.js';
import { recordIn } from './model/attendance.js';
import type { CalendarContext, EventRecord } from './model/event-record.js';
import type { FoundEvent } from './events.repository.js';
import { EventsRepository } from './events.repository.js';
import { type Occurrence, occurrencesIn, rangeOf } from './model/event-series.js';

const DAY = 86_400;
/** The longest window of a request, seconds. */
const MAX_WINDOW = 400 * DAY;
/** Maximum number of instances of a request. */
const MAX_INSTANCES = 10_000;

/** An instance of an event in a calendar. */
export interface FoundInstance extends Omit<FoundEvent, 'calendar'> {
  record: EventRecord;
  occurrence: Occurrence;
}

/** Reads of windows of events. */
@Injectable()
export class CalendarsApi {
  constructor(private readonly events: EventsRepository) {}

  /**
   * The instances of a calendar that overlap a window, in the order of start, event and key. Cancelled ones are included.
   * @param window instants in seconds; `readerZone` null: the zone of the calendar
   * @throws ApiError 404; 422 `window_too_large`
   */
  async instances(
    reader: Reader,
    ctx: RequestContext,
    calendarId: string,
    window: { from: number; to: number; readerZone: string | null },
    eventId?: string,
  ): Promise<{ calendar: CalendarContext; instances: FoundInstance[]; readerZone: string }> {
    const { from, to } = window;
    if (to - from > MAX_WINDOW) throw CalendarErrors.windowTooLarge.with();
    const query = { ...rangeOf(window), limit: MAX_INSTANCES + 1, eventId };
    const read = await this.events.window(reader, ctx, calendarId, query);
    const readerZone = window.readerZone ?? read.calendar.time_zone;
    const instances: FoundInstance[] = [];
    for (const { record: event, entry } of read.found) {
      const record = recordIn(event, read.calendar);
      for (const occurrence of occurrencesIn(record, { from, to, readerZone }, MAX_INSTANCES + 1))
        instances.push({ record, entry, occurrence });
      if (instances.length > MAX_INSTANCES) throw CalendarErrors.windowTooLarge.with();
    }
    return { calendar: read.calendar, instances: instances.sort(inOrder), readerZone };
  }
}

/** Compares by start, event and key, a unique order. */
function inOrder(a: FoundInstance, b: FoundInstance): number {
  return (
    a.occurrence.start - b.occurrence.start ||
    compare(a.record.id, b.record.id) ||
    compare(a.occurrence.key ?? '', b.occurrence.key ?? '')
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
