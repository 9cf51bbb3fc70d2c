import {
  component,
  type Component,
  formatComponent,
  property,
  vtimezoneText,
  zonesIn,
} from '../../../../lib/icalendar/index.js';
import { recordIn, resourceIn } from '../../model/attendance.js';
import { ownAlarms } from '../../model/dependent-properties.js';
import type { CalendarContext, EventRecord, Visibility } from '../../model/event-record.js';
import { permissionsOf } from '../../model/event-policy.js';
import { instanceVevent, stamp, veventsOf, type VEventView } from '../../model/vevent.js';
import { contentOf, isSeries, type Occurrence, occurrencesIn } from '../../model/event-series.js';
import { formatInstant, instantOf, isDay, wallOf } from '../../model/event-times.js';
import type { PlacedRecord } from './event-resources.repository.js';

const HEAD = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Workspace//Calendar//EN\r\nCALSCALE:GREGORIAN\r\n';
const END = 'END:VCALENDAR\r\n';

/** Instances of one event that an expansion writes. */
const MAX_INSTANCES = 2_000;

export interface TextOptions {
  /** False: times with IANA names only, without VTIMEZONE (RFC 7809). */
  zones: boolean;
  /** Instances in this window in place of the series (RFC 4791, 9.6.5): instants in seconds. */
  expand?: { from: number; to: number } | undefined;
}

const viewOf = (
  record: EventRecord,
  calendar: CalendarContext,
  userId: string,
  { reminders, alarms }: PlacedRecord,
): VEventView => {
  const sees = (visibility: Visibility): boolean =>
    permissionsOf(record, calendar, userId, { key: null, visibility }).see_details;
  return {
    seesDetails: sees(record.visibility),
    seesPrivate: sees('private'),
    reminders: reminders ?? [],
    alarms: ownAlarms(record, calendar.id, alarms),
    ownerEmail: calendar.owner_email,
  };
};

/** An event with its instances as a whole VCALENDAR, as a user sees it in a calendar. */
export function resourceText(
  placed: PlacedRecord,
  calendar: CalendarContext,
  userId: string,
  options: TextOptions,
): string {
  const record = resourceIn(placed.record, calendar);
  const view = viewOf(record, calendar, userId, placed);
  const events = options.expand ? expanded(record, view, calendar, options.expand) : veventsOf(record, view);
  let text = HEAD;
  if (options.zones && !options.expand) {
    const year = Number(record.starts.slice(0, 4));
    for (const name of zonesIn(events)) text += vtimezoneText(name, year);
  }
  for (const event of events) text += formatComponent(event);
  return text + END;
}

/** The instances of an event in a window, with times in UTC. */
function expanded(
  record: EventRecord,
  view: VEventView,
  { time_zone: readerZone }: CalendarContext,
  window: { from: number; to: number },
): Component[] {
  const found = occurrencesIn(record, { ...window, readerZone }, MAX_INSTANCES);
  return found
    .filter((occurrence) => contentOf(record, occurrence).status !== 'cancelled' || !isSeries(record))
    .toSorted((a, b) => a.start - b.start)
    .flatMap((occurrence) => {
      const event =
        occurrence.key === null ? veventsOf(record, view)[0] : instanceVevent(record, occurrence.key, view);
      return event ? [inUtc(event, record, occurrence, readerZone)] : [];
    });
}

function inUtc(event: Component, record: EventRecord, occurrence: Occurrence, readerZone: string): Component {
  const { key, start, end } = occurrence;
  if (isDay(contentOf(record, occurrence).starts)) return event;
  const utc = (name: string, instant: number) => property(name, stamp(formatInstant(instant)));
  const id =
    key === null
      ? []
      : [isDay(key) ? null : utc('RECURRENCE-ID', instantOf(wallOf(key), record.time_zone, readerZone))];
  const replaced = new Set(['DTSTART', 'DTEND', 'DURATION', ...(id[0] ? ['RECURRENCE-ID'] : [])]);
  const times = [utc('DTSTART', start), utc('DTEND', end), ...id.flatMap((each) => each ?? [])];
  const others = event.properties.filter(({ name }) => !replaced.has(name));
  return component('VEVENT', [...others, ...times], event.components);
}

/** Whether an event has an instance in a window (RFC 4791, 9.9). @param window instants in seconds */
export const occursIn = (
  { record }: Pick<PlacedRecord, 'record'>,
  calendar: CalendarContext,
  window: { from: number; to: number },
): boolean =>
  occurrencesIn(recordIn(record, calendar), { ...window, readerZone: calendar.time_zone }, 1).length > 0;
