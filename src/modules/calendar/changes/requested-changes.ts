import { isDeepStrictEqual } from 'node:util';
import type { UpdateEvent } from '../input/event.dto.js';
import type { EventContent, EventRecord, EventTimes } from '../model/event-record.js';
import { clockTimes, contentOf as contentAt, isSeries, occurrenceOf } from '../model/event-series.js';
import { instantOf, isDay, lengthAt, nominalLength, wallIn, wallOf, wallText } from '../model/event-times.js';
import { withCallOf } from './event-calls.js';
import { type Changes, movedDates } from './event-change.js';
import { contentOf, hasTimes, recurrenceOf, timesOf } from '../input/event-patch.js';

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
  const dates = movedDates(record, times ?? record);
  const recurrence = recurrenceOf(fields, times ?? record, { rules: record.rules, ...dates });
  return {
    content: withCallOf(record, contentOf(fields)),
    times,
    recurrence,
    ...(proposals_allowed !== undefined && { proposals_allowed }),
  };
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
 * @param key the instance whose times the request contains: the series moves by the same time as this instance. Null: the first
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
  return { ...times, starts: wallText(start, isDate), ends: wallText(start + nominalLength(times), isDate) };
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
  const shown = onClock(nominal, zone);
  return shown === nominal ? requested - nominal : onClock(requested, times.time_zone) - shown;
}

const onClock = (wall: number, zone: string | null): number =>
  zone === null ? wall : wallIn(zone, instantOf(wall, zone));
