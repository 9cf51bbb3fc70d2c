import {
  type Component,
  ICalendarError,
  parameterOf,
  propertiesOf,
  type Property,
  propertyOf,
  parseDuration,
  parseTime,
  textList,
  textOf,
} from '../../../lib/icalendar/index.js';
import { DAY } from '../../../lib/recurrence/index.js';
import type { Reminder } from '../calendar.entity.js';
import {
  type EventContent,
  type EventLink,
  type EventStatus,
  type EventTimes,
  STATUSES,
} from './event-record.js';
import { CONFERENCE_URLS } from './dependent-properties.js';
import { instantOf, lengthAt, wallOf } from './event-times.js';
import { BUSY_STATUS, CONFERENCE_FEATURES } from './vevent.js';

/** Limits of the fields, as in requests. Longer text is cut. */
const MAX = {
  title: 1_000,
  description: 65_536,
  location: 1_000,
  categories: 50,
  category: 100,
  links: 50,
  url: 2_048,
  reminders: 10,
  reminderMinutes: 60 * 24 * 40,
  unknownBytes: 64 * 1024,
} as const;

/** Text that can be stored: well-formed, without U+0000, cut. */
export const storable = (text: string, max: number): string =>
  text.replaceAll('\0', '').slice(0, max).toWellFormed();

/** One line without control characters and marks that change the direction of text. */
export const line = (text: string, max: number): string =>
  storable(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim(), max);

const upper = (event: Component, name: string): string =>
  propertyOf(event, name)?.value.trim().toUpperCase() ?? '';

/** The fields of a VEVENT without its times. Unknown properties are in `custom.ics`, unknown components in `custom.components`. */
export function contentOfVevent(event: Component): Omit<EventContent, keyof EventTimes> {
  const location = storable(textOf(event, 'LOCATION') ?? '', MAX.location);
  const geo = geoOf(event);
  const color = /^#[0-9a-f]{6}/i.exec(propertyOf(event, 'X-APPLE-CALENDAR-COLOR')?.value ?? '')?.[0];
  const url = conferenceOf(event);
  const unknown = unknownOf(event);
  const components = storableComponents(event.components.filter(({ name }) => name !== 'VALARM'));
  return {
    title: line(textOf(event, 'SUMMARY') ?? '', MAX.title),
    description: storable(textOf(event, 'DESCRIPTION') ?? '', MAX.description),
    location,
    locations: geo ? [{ name: line(location, 500), address: '', geo }] : [],
    status: statusOf(event),
    show_as: showAsOf(event),
    visibility: ['PRIVATE', 'CONFIDENTIAL'].includes(upper(event, 'CLASS')) ? 'private' : 'default',
    color: color?.toLowerCase() ?? null,
    categories: categoriesOf(event),
    conference: url === null ? null : { kind: 'link', url, room_id: null },
    links: linksOf(event),
    custom: { ...(unknown.length > 0 && { ics: unknown }), ...(components.length > 0 && { components }) },
  };
}

function statusOf(event: Component): EventStatus {
  const status = upper(event, 'STATUS').toLowerCase();
  return (STATUSES as readonly string[]).includes(status) ? (status as EventStatus) : 'confirmed';
}

function showAsOf(event: Component): EventContent['show_as'] {
  if (upper(event, 'TRANSP') === 'TRANSPARENT') return 'free';
  const busy = upper(event, 'X-MICROSOFT-CDO-BUSYSTATUS');
  if (busy === 'FREE') return 'free';
  const found = Object.entries(BUSY_STATUS).find(([, value]) => value === busy);
  return (found?.[0] as EventContent['show_as'] | undefined) ?? 'busy';
}

function categoriesOf(event: Component): string[] {
  const all = propertiesOf(event, 'CATEGORIES').flatMap(({ value }) => textList(value));
  return [...new Set(all.map((text) => storable(text, MAX.category)))]
    .filter(Boolean)
    .slice(0, MAX.categories);
}

function geoOf(event: Component): { latitude: number; longitude: number } | null {
  const [latitude, longitude] = (propertyOf(event, 'GEO')?.value ?? '').split(';').map(Number);
  if (latitude === undefined || longitude === undefined) return null;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
}

function httpUrl(text: string | undefined): string | null {
  const value = text?.trim() ?? '';
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && value.length <= MAX.url && value.isWellFormed()
    ? value
    : null;
}

function conferenceOf(event: Component): string | null {
  const urls = CONFERENCE_URLS.flatMap((name) =>
    propertiesOf(event, name).map(({ value }) => httpUrl(value)),
  );
  return urls.find((url) => url !== null) ?? null;
}

function linksOf(event: Component): EventLink[] {
  return propertiesOf(event, 'ATTACH')
    .flatMap((property): EventLink[] => {
      const url = httpUrl(property.value);
      const title = line(parameterOf(property, 'X-FILENAME') ?? parameterOf(property, 'FILENAME') ?? '', 512);
      return url === null ? [] : [{ type: 'url', id: null, url, title }];
    })
    .slice(0, MAX.links);
}

/** Properties that have a field, or that describe the file. */
const KNOWN: ReadonlySet<string> = new Set([
  'UID',
  'DTSTAMP',
  'CREATED',
  'LAST-MODIFIED',
  'SEQUENCE',
  'RECURRENCE-ID',
  'DTSTART',
  'DTEND',
  'DURATION',
  'RRULE',
  'RDATE',
  'EXDATE',
  'SUMMARY',
  'DESCRIPTION',
  'LOCATION',
  'STATUS',
  'TRANSP',
  'CLASS',
  'CATEGORIES',
  'X-MICROSOFT-CDO-BUSYSTATUS',
  'X-MICROSOFT-DISALLOW-COUNTER',
  'ORGANIZER',
  'ATTENDEE',
]);

/** Properties without a field, up to 64 KiB: attached files are dropped first. */
function unknownOf(event: Component): Property[] {
  const conference = propertiesOf(event, 'CONFERENCE').find(({ value }) => httpUrl(value) !== null);
  const hasGeo = geoOf(event) !== null;
  const kept: Property[] = [];
  let bytes = 0;
  for (const each of event.properties) {
    const { name, value } = each;
    const isRead =
      (KNOWN.has(name) && !statesMore(event, each)) ||
      (name === 'GEO' && hasGeo) ||
      (name === 'X-APPLE-CALENDAR-COLOR' && /^#[0-9a-f]{6}/i.test(value)) ||
      (name === 'ATTACH' && httpUrl(value) !== null && !hasOther(each, ['FILENAME', 'X-FILENAME'])) ||
      (each === conference && !hasOther(each, ['VALUE', ...(hasOwnFeatures(each) ? ['FEATURE'] : [])]));
    if (isRead) continue;
    const size = JSON.stringify(each).length;
    if (bytes + size > MAX.unknownBytes) continue;
    bytes += size;
    kept.push(storableProperty(each));
  }
  return kept;
}

/** Whether a property says more than its field: CLASS:CONFIDENTIAL, and a title with line breaks. */
function statesMore(event: Component, each: Property): boolean {
  if (each !== propertyOf(event, each.name)) return false;
  if (each.name === 'CLASS') return upper(event, 'CLASS') === 'CONFIDENTIAL';
  const title = each.name === 'SUMMARY' ? (textOf(event, 'SUMMARY') ?? '').trim() : '';
  return /[\r\n]/.test(title) && title.length <= MAX.title;
}

/** Components without text that cannot be stored, up to 64 KiB. */
function storableComponents(components: readonly Component[]): Component[] {
  const kept: Component[] = [];
  let bytes = 0;
  for (const { name, properties, components: inner } of components) {
    const each = {
      name,
      properties: properties.map(storableProperty),
      components: storableComponents(inner),
    };
    bytes += JSON.stringify(each).length;
    if (bytes <= MAX.unknownBytes) kept.push(each);
  }
  return kept;
}

/** The alarms that are no reminders of the event. */
export const otherAlarms = (event: Component, times: EventTimes, isSeries: boolean): Component[] =>
  storableComponents(
    event.components
      .filter(({ name }) => name === 'VALARM')
      .filter((alarm) => !reminderOf(alarm, times, isSeries)),
  );

const hasOwnFeatures = (property: Property): boolean =>
  propertyValues(property, 'FEATURE').join() === CONFERENCE_FEATURES.join();

const propertyValues = ({ parameters }: Property, name: string): readonly string[] =>
  parameters.find((each) => each.name === name)?.values ?? [];

/** Whether a property has parameters that its field does not keep. */
const hasOther = ({ parameters }: Property, names: readonly string[]): boolean =>
  parameters.some(({ name }) => !names.includes(name));

/** A property without text that cannot be stored. */
export function storableProperty({ name, parameters, value }: Property): Property {
  const text = (each: string): string => storable(each, each.length);
  return {
    name,
    parameters: parameters.map((each) => ({ name: each.name, values: each.values.map(text) })),
    value: text(value),
  };
}

/**
 * The alarms as minutes before the start; null for an event without them. Leaves out alarms after the start, alarms
 * with an absolute time for series, days and floating times, and alarms that are not whole minutes before the start.
 */
export function remindersOf(event: Component, times: EventTimes, isSeries: boolean): Reminder[] | null {
  const found = event.components
    .filter(({ name }) => name === 'VALARM')
    .flatMap((alarm) => reminderOf(alarm, times, isSeries) ?? []);
  const unique = [...new Map(found.map((each) => [`${each.method} ${each.minutes}`, each])).values()];
  return unique.length > 0 ? unique.slice(0, MAX.reminders) : null;
}

function reminderOf(alarm: Component, times: EventTimes, isSeries: boolean): Reminder | null {
  const trigger = propertyOf(alarm, 'TRIGGER');
  const minutes = trigger ? minutesBefore(trigger, times, isSeries) : null;
  if (minutes === null || upper(alarm, 'ACTION') === 'NONE') return null;
  return { method: upper(alarm, 'ACTION') === 'EMAIL' ? 'email' : 'popup', minutes };
}

/** Null for a time that is no reminder. */
function minutesBefore(trigger: Property, times: EventTimes, isSeries: boolean): number | null {
  try {
    const minutes = secondsBefore(trigger, times, isSeries) / 60;
    return Number.isInteger(minutes) && minutes >= 0 && minutes <= MAX.reminderMinutes ? minutes || 0 : null;
  } catch (error) {
    if (error instanceof ICalendarError) return null;
    throw error;
  }
}

/** Of a series: before the start of its first instance. NaN for a time that does not follow the start. */
function secondsBefore(trigger: Property, times: EventTimes, isSeries: boolean): number {
  const wall = wallOf(times.starts);
  const start = instantOf(wall, times.time_zone);
  if (/^\d/.test(trigger.value.trim())) {
    const { kind, wall: moment } = parseTime(trigger.value, 'TRIGGER');
    return kind === 'utc' && times.time_zone !== null && !isSeries ? start - moment : Number.NaN;
  }
  const { days, seconds } = parseDuration(trigger.value, 'TRIGGER');
  const offset = days * DAY + seconds;
  if (parameterOf(trigger, 'RELATED')?.toUpperCase() === 'END') return -offset - lengthAt(times, wall, start);
  return Math.round(-offset / 60) * 60;
}
