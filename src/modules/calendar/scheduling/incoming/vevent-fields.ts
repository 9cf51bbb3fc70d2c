import {
  allTimesOf,
  type CalendarZones,
  type Component,
  parameterOf,
  parseDuration,
  type Property,
  propertiesOf,
  propertyOf,
  textList,
  textOf,
  timesOf as timesOfProperty,
  type TimeValue,
} from '../../../../lib/icalendar/index.js';
import type { EventFields } from '../../input/event-fields.dto.js';
import { MAX_RULES } from '../../input/event-parts.dto.js';
import { contentOf, type Recurrence, recurrenceOf, timesOf } from '../../input/event-patch.js';
import { isTimeInput, type TimeInput } from '../../input/event-input-times.js';
import type { EventContent, EventTimes, ShowAs } from '../../model/event-record.js';
import { formatDuration, wallText } from '../../model/event-times.js';
import { RejectedMessageError } from './rejection.js';

const MAX_TITLE = 1_000;
const MAX_DESCRIPTION = 65_536;
const MAX_DATES = 1_000;
const MAX_CATEGORIES = 50;
const MAX_URL = 2_048;

/** Properties with the address of a conference. */
const CONFERENCE = ['CONFERENCE', 'X-GOOGLE-CONFERENCE', 'X-MICROSOFT-SKYPETEAMSMEETINGURL'];

const BUSY: Record<string, ShowAs> = {
  FREE: 'free',
  TENTATIVE: 'tentative',
  OOF: 'out_of_office',
  WORKINGELSEWHERE: 'working_elsewhere',
};

/** A VEVENT as the calendar stores it. */
export interface ReadEvent {
  content: Partial<EventContent>;
  times: EventTimes;
  recurrence: Recurrence;
}

/**
 * Reads a VEVENT. Missing properties have their defaults: a message states the whole event.
 * @throws RejectedMessageError; ApiError 422 for times and rules
 */
export function readEvent(event: Component, zones: CalendarZones): ReadEvent {
  const fields = fieldsOf(event, zones);
  const times = timesOf(fields, undefined, 'UTC');
  const recurrence = recurrenceOf(fields, times, undefined) ?? { rules: [], added: [], excluded: [] };
  return { content: contentOf(fields), times, recurrence };
}

function fieldsOf(event: Component, zones: CalendarZones): EventFields {
  const start = propertyOf(event, 'DTSTART');
  if (!start) throw new RejectedMessageError('no_start');
  const end = propertyOf(event, 'DTEND');
  const duration = propertyOf(event, 'DURATION');
  const isDate = timesOfProperty(start)[0]?.kind === 'date';
  const list = (name: string): TimeInput[] =>
    allTimesOf(event, name)
      .slice(0, MAX_DATES)
      .map((time) => timeInput(time, time.tzid, zones));
  return {
    title: text(event, 'SUMMARY', MAX_TITLE).replaceAll(/\p{Cc}+/gu, ' '),
    description: text(event, 'DESCRIPTION', MAX_DESCRIPTION),
    location: text(event, 'LOCATION', MAX_TITLE),
    locations: [],
    start: timeOf(start, zones),
    ...(end
      ? { end: timeOf(end, zones) }
      : duration
        ? { duration: durationText(duration.value) }
        : isDate
          ? {}
          : { duration: 'PT0S' }),
    recurrence: {
      rules: propertiesOf(event, 'RRULE')
        .slice(0, MAX_RULES)
        .map(({ value }) => value.trim()),
      added: list('RDATE'),
      excluded: list('EXDATE'),
    },
    status: statusOf(event),
    show_as: showAs(event),
    visibility: /^(?:PRIVATE|CONFIDENTIAL)$/i.test(propertyOf(event, 'CLASS')?.value ?? '')
      ? 'private'
      : 'default',
    color: null,
    categories: propertiesOf(event, 'CATEGORIES')
      .flatMap(({ value }) => textList(value))
      .map((name) => storable(name).slice(0, 100))
      .slice(0, MAX_CATEGORIES),
    conference: conferenceOf(event),
    links: [],
  };
}

const storable = (given: string): string => given.toWellFormed().replaceAll('\0', '');

const text = (event: Component, name: string, length: number): string =>
  storable((textOf(event, name) ?? '').slice(0, length));

function timeOf(property: Property, zones: CalendarZones): TimeInput {
  const [time] = timesOfProperty(property) as [TimeValue];
  return timeInput(time, parameterOf(property, 'TZID') ?? null, zones);
}

/** @throws RejectedMessageError `unknown_time_zone`, `invalid_time` */
function timeInput({ kind, wall }: TimeValue, tzid: string | null, zones: CalendarZones): TimeInput {
  const input = ((): TimeInput => {
    if (kind === 'date') return { date: wallText(wall, true) };
    if (kind === 'utc') return { date_time: wallText(wall, false), time_zone: 'UTC' };
    if (tzid === null) return { date_time: wallText(wall, false), time_zone: null };
    const zone = zones.resolve(tzid, wall);
    if (zone === null) throw new RejectedMessageError('unknown_time_zone');
    return zone.kind === 'iana'
      ? { date_time: wallText(wall, false), time_zone: zone.name }
      : { date_time: wallText(zone.rules.toInstant(wall), false), time_zone: 'UTC' };
  })();
  if (!isTimeInput(input)) throw new RejectedMessageError('invalid_time');
  return input;
}

function durationText(value: string): string {
  const { days, seconds } = parseDuration(value);
  const length = days * 86_400 + seconds;
  // The longest event of the calendar has ten years.
  if (length < 0 || length > 3_660 * 86_400) throw new RejectedMessageError('invalid_duration');
  return formatDuration(length);
}

function statusOf(event: Component): EventContent['status'] {
  const status = (propertyOf(event, 'STATUS')?.value ?? '').trim().toUpperCase();
  return status === 'TENTATIVE' ? 'tentative' : status === 'CANCELLED' ? 'cancelled' : 'confirmed';
}

/** Exchange states the status before the response as BUSYSTATUS, and the one after it as INTENDEDSTATUS. */
function showAs(event: Component): ShowAs {
  const value = (name: string): string => (propertyOf(event, name)?.value ?? '').trim().toUpperCase();
  const stated = value('X-MICROSOFT-CDO-INTENDEDSTATUS') || value('X-MICROSOFT-CDO-BUSYSTATUS');
  return BUSY[stated] ?? (value('TRANSP') === 'TRANSPARENT' ? 'free' : 'busy');
}

function conferenceOf(event: Component): EventFields['conference'] {
  for (const name of CONFERENCE)
    for (const { value } of propertiesOf(event, name))
      if (/^https?:\/\/[^\s\p{Cc}]+$/u.test(value) && value.length <= MAX_URL)
        return { kind: 'link', url: value };
  return null;
}
