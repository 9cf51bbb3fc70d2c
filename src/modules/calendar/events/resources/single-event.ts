import {
  type Component,
  ICalendarError,
  parseDuration,
  propertyOf,
} from '../../../../lib/icalendar/index.js';
import { RecurrenceError } from '../../../../lib/recurrence/index.js';
import type { ApiError } from '../../../../platform/http/errors.js';
import { CalendarErrors, RuleErrors } from '../../calendar.errors.js';
import { instantIn, invalid, isFloating } from '../../model/vevent-time-parts.js';
import type { EventClock } from '../../model/vevent-times.js';
import { type FileEvent, IcsFile, TooManyEventsError } from '../ics-file.js';

/** Codes in `details` of `invalid_ics` about a text that is valid iCalendar, but not one event (RFC 4791, 4.1). */
export const RESOURCE_PROBLEMS = {
  notOneEvent: 'not_one_event',
  severalKinds: 'several_kinds',
  unsupportedComponent: 'unsupported_component',
  method: 'method',
} as const;

/**
 * The only event of a text, with its instances.
 * @param zone of the calendar
 * @throws ApiError 422 `invalid_ics`, with a code of `RESOURCE_PROBLEMS` or of the library; `too_many_events` and those of rules
 */
export async function singleEvent(text: Uint8Array, zone: string): Promise<FileEvent> {
  const event = await read(text, zone);
  const { master, instances, clock } = event;
  checked(() => {
    for (const each of [master, ...instances]) if (each) assertOrder(each, clock);
  });
  return event;
}

async function read(text: Uint8Array, zone: string): Promise<FileEvent> {
  const { notOneEvent, severalKinds, unsupportedComponent, method } = RESOURCE_PROBLEMS;
  try {
    const file = await IcsFile.read(() => Promise.resolve(piecesOf(text)), zone);
    const { calendars, kinds, unfinished } = file;
    if (unfinished) throw unfinished.error;
    if (calendars.length === 0) throw new ICalendarError('invalid_value', 'The text has no VCALENDAR');
    if (calendars.some((calendar) => propertyOf(calendar, 'METHOD')))
      throw problem(method, 'The text must not have a METHOD.');
    const others = [...kinds.keys()].filter((kind) => kind !== 'VEVENT');
    if (others.length > 0)
      throw kinds.size > 1
        ? problem(severalKinds, 'The text must not have components of several kinds.')
        : problem(unsupportedComponent, 'A calendar contains events only.');
    const events: FileEvent[] = [];
    for await (const event of file.events()) events.push(event);
    const [event] = events;
    if (event && events.length === 1 && calendars.length === 1) return event;
  } catch (error) {
    if (error instanceof TooManyEventsError) throw CalendarErrors.tooManyEvents.with();
    throw asApiError(error);
  }
  throw problem(notOneEvent, 'The text must have exactly one event.');
}

const problem = (code: string, message: string): ApiError =>
  CalendarErrors.invalidIcs.with({ message, details: [{ field: '', code, message }] });

/** Imports read such an event as one without a length. @throws ICalendarError for an end before the start (RFC 5545, 3.8.2.2 and 3.8.2.5) */
function assertOrder(event: Component, clock: EventClock): void {
  const end = propertyOf(event, 'DTEND');
  const length = propertyOf(event, 'DURATION');
  if (!end) {
    if (length && isNegative(length.value)) throw invalid('DURATION', 'must not be negative');
    return;
  }
  const [from, to] = [clock.start(event), clock.readStart(end)];
  const until = isFloating(from) === isFloating(to) ? to : { ...from, wall: to.wall };
  // Some programs write an inclusive end, so a day may end on the day of its start.
  if (from.isDate === to.isDate && instantIn(until, until.wall) < instantIn(from, from.wall))
    throw invalid('DTEND', 'must not be before DTSTART');
}

/** A malformed length is ignored, as in imports. */
function isNegative(text: string): boolean {
  try {
    const { days, seconds } = parseDuration(text);
    return days < 0 || seconds < 0;
  } catch (error) {
    if (error instanceof ICalendarError) return false;
    throw error;
  }
}

/** @throws ApiError 422 for errors of the libraries */
export function checked<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asApiError(error);
  }
}

/**
 * Imports ignore malformed dates, with a warning. A program would not see it, and its event would lose the instances they name.
 * @param read reads the event @throws ApiError 422 `invalid_ics` for such a date, and for errors of the libraries
 */
export const checkedDates = <T>({ clock }: FileEvent, read: () => T): T =>
  checked(() => {
    const event = read();
    if (clock.warnings.some(({ code }) => code === 'invalid_date'))
      throw new ICalendarError('invalid_value', 'A date of RDATE or EXDATE, or of an instance, is not valid');
    return event;
  });

function asApiError(error: unknown): unknown {
  if (error instanceof RecurrenceError) return RuleErrors[error.code].with({ message: error.message });
  if (!(error instanceof ICalendarError)) return error;
  const { code, message, property = '' } = error;
  return CalendarErrors.invalidIcs.with({ message, details: [{ field: property, code, message }] });
}

// oxlint-disable-next-line typescript/require-await -- the reader of files takes an asynchronous source
async function* piecesOf(text: Uint8Array): AsyncGenerator<Uint8Array> {
  yield text;
}
