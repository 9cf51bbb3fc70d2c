import {
  component,
  type Component,
  escapeText,
  formatDuration,
  formatTime,
  property,
  type Property,
  propertyOf,
  unescapeText,
} from '../../../lib/icalendar/index.js';
import { nearestColorName } from '../../../lib/color-names/index.js';
import { uriOfAddress } from '../../../lib/itip/index.js';
import { DAY, formatRule, parseRule } from '../../../lib/recurrence/index.js';
import type { InstanceAlarms, PlacedReminder } from '../calendar.schema.js';
import { attendeesAt } from './attendance.js';
import type {
  AttendeeKind,
  AttendeeResponse,
  AttendeeRole,
  EventContent,
  EventRecord,
  EventTimes,
  ParticipantRow,
  ShowAs,
} from './event-record.js';
import { isOrphaned, keptOf } from './dependent-properties.js';
import { alarmVcomponent } from './ics/alarms.js';
import { uidOfText } from './ics/storable.js';
import { withParameters } from './ics/people-parameters.js';
import { contentOf, isSeries, type Occurrence, occurrenceOf } from './event-series.js';
import { occurrenceFinder } from './known-instances.js';
import { instantOf, isDay, nominalLength, wallOf } from './event-times.js';

/** Parts of a VEVENT that depend on its reader. */
export interface VEventView {
  /** False means only times, with the title `Busy`. */
  seesDetails: boolean;
  /** False means that private instances of a series are `Busy`. */
  seesPrivate?: boolean;
  /** The reminders of the owner of the placement. */
  reminders?: readonly PlacedReminder[];
  /** Alarms of the same owner that are no reminders. */
  alarms?: readonly Component[];
  /** The alarms of instances where they differ, by key. */
  instanceAlarms?: Readonly<Record<string, InstanceAlarms>> | null;
  /** The address of the owner, which an alarm by mail needs; without it all alarms are shown. */
  ownerEmail?: string;
}

/** FEATURE of a CONFERENCE that is made from a field (RFC 7986, section 5.11). */
export const CONFERENCE_FEATURES = ['AUDIO', 'VIDEO'];

/** Values of PARTSTAT, ROLE and CUTYPE (RFC 5545, 3.2). */
export const RESPONSES = {
  needs_action: 'NEEDS-ACTION',
  accepted: 'ACCEPTED',
  declined: 'DECLINED',
  tentative: 'TENTATIVE',
  delegated: 'DELEGATED',
} as const satisfies Record<AttendeeResponse, string>;
export const ROLES = {
  required: 'REQ-PARTICIPANT',
  optional: 'OPT-PARTICIPANT',
  chair: 'CHAIR',
  none: 'NON-PARTICIPANT',
} as const satisfies Record<AttendeeRole, string>;
export const KINDS = {
  person: 'INDIVIDUAL',
  group: 'GROUP',
  room: 'ROOM',
  resource: 'RESOURCE',
} as const satisfies Record<AttendeeKind, string>;
/** Values of Exchange for states that TRANSP lacks. */
export const BUSY_STATUS = {
  tentative: 'TENTATIVE',
  out_of_office: 'OOF',
  working_elsewhere: 'WORKINGELSEWHERE',
} as const satisfies Partial<Record<ShowAs, string>>;

/**
 * The VEVENTs of an event: the series or single event, then the instances that differ (RFC 5545, 3.6.1 and 3.8.4.4). Of an unknown series:
 * the instances.
 * @param isWanted whether an instance that differs from its series is written
 */
export function veventsOf(
  record: EventRecord,
  view: VEventView,
  isWanted?: (key: string) => boolean,
): Component[] {
  if (isOrphaned(record)) {
    const keys = new Set([record.starts, ...record.added]);
    return [...keys].toSorted().flatMap((key) => instanceVevent(record, key, view) ?? []);
  }
  const master = component('VEVENT', [
    ...head(record),
    ...timesOf(record),
    ...recurrenceOf(record),
    ...contentProperties(record, view),
    ...(view.seesDetails ? people(record, null, record.custom) : []),
  ]);
  master.components.push(...componentsOf(record, view, null));
  return isSeries(record) ? [master, ...instances(record, view, isWanted)] : [master];
}

/** Instances with an override, a response or an alarm of their own. Cancelled ones are dates of EXDATE. */
function instances(
  record: EventRecord,
  view: VEventView,
  isWanted: (key: string) => boolean = () => true,
): Component[] {
  const named = new Set([
    ...record.overrides.map(({ recurrence_key: key }) => key),
    ...record.participants.map(({ recurrence_key: key }) => key).filter((key) => /^\d/.test(key)),
    ...(view.seesDetails ? keysOfAlarms(view) : []),
  ]);
  const keys = [...named].filter(isWanted).toSorted();
  const find = occurrenceFinder(record, keys, 'UTC');
  return keys.flatMap((key) => {
    const vevent = instanceVevent(record, key, view, find(key));
    return vevent && propertyOf(vevent, 'STATUS')?.value !== 'CANCELLED' ? [vevent] : [];
  });
}

/** One instance of a series, cancelled or not; null where the series has none at this key. */
export function instanceVevent(
  record: EventRecord,
  key: string,
  reader: VEventView,
  occurrence: Occurrence | null = occurrenceOf(record, key, 'UTC'),
): Component | null {
  if (!occurrence) return null;
  const content = contentOf(record, occurrence);
  const isHidden = content.visibility === 'private' && reader.seesPrivate === false;
  const view = isHidden ? { seesDetails: false } : reader;
  return component(
    'VEVENT',
    [
      ...head(record, isOrphaned(record) ? (occurrence.override ?? record) : record),
      timeProperty('RECURRENCE-ID', key, record.time_zone),
      ...timesOf(content),
      ...contentProperties(content, view),
      ...(view.seesDetails ? people(record, key, content.custom) : []),
    ],
    componentsOf(content, view, key),
  );
}

function head(
  record: EventRecord,
  { sequence, dtstamp }: Pick<EventRecord, 'sequence' | 'dtstamp'> = record,
): Property[] {
  return [
    ...(record.proposals_allowed ? [] : [property('X-MICROSOFT-DISALLOW-COUNTER', 'TRUE')]),
    uidProperty(record),
    property('DTSTAMP', stamp(dtstamp)),
    property('CREATED', stamp(record.created_at)),
    property('LAST-MODIFIED', stamp(record.updated_at)),
    property('SEQUENCE', String(sequence)),
  ];
}

/** The UID, as its program writes it. The part that a split begins has that of the whole series among its other properties. */
export function uidProperty({ uid, custom }: Pick<EventRecord, 'uid' | 'custom'>): Property {
  const stated = keptOf(custom).ics.find(({ name }) => name === 'UID');
  return stated && uidOfText(unescapeText(stated.value)) === uid ? stated : property('UID', escapeText(uid));
}

/** `20260302T080000Z` of RFC 3339. */
export const stamp = (text: string): string =>
  `${new Date(text).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/** A DATE, or a DATE-TIME in UTC, in a zone or floating. */
export function timeProperty(name: string, times: string | readonly string[], zone: string | null): Property {
  const texts = typeof times === 'string' ? [times] : times;
  const isDate = isDay(texts[0] ?? '');
  const kind = isDate ? 'date' : zone === 'UTC' ? 'utc' : 'local';
  const value = texts.map((text) => formatTime({ kind, wall: wallOf(text) })).join(',');
  return property(name, value, {
    VALUE: isDate ? 'DATE' : null,
    TZID: kind === 'local' ? zone : null,
  });
}

/** DTSTART with DTEND or DURATION. */
export function timesOf(times: EventTimes): Property[] {
  const start = timeProperty('DTSTART', times.starts, times.time_zone);
  if (times.exact_duration)
    return [start, property('DURATION', formatDuration({ days: 0, seconds: nominalLength(times) }))];
  return [start, timeProperty('DTEND', times.ends, times.end_time_zone ?? times.time_zone)];
}

function recurrenceOf(record: EventRecord): Property[] {
  const cancelled = record.overrides
    .filter(({ patch }) => patch.status === 'cancelled')
    .map(({ recurrence_key: key }) => key);
  const excluded = [...record.excluded, ...cancelled];
  return [
    ...record.rules.map((rule) => property('RRULE', exportedRule(rule, record))),
    ...(record.added.length > 0 ? [timeProperty('RDATE', record.added, record.time_zone)] : []),
    ...(excluded.length > 0 ? [timeProperty('EXDATE', excluded.toSorted(), record.time_zone)] : []),
  ];
}

/** iCalendar has no later time. */
const LAST_TIME = wallOf('9999-12-31T23:59:59');

/** UNTIL has the type of DTSTART; in a series with a zone it is in UTC (RFC 5545, 3.3.10). */
function exportedRule(text: string, { time_zone: zone, starts }: EventTimes): string {
  const rule = parseRule(text);
  if (!rule.until) return text;
  const { kind, time } = rule.until;
  if (isDay(starts)) return formatRule({ ...rule, until: { kind: 'date', time } });
  const wall = kind === 'date' ? time + DAY - 1 : time;
  if (zone === null) return formatRule({ ...rule, until: { kind: 'wall', time: wall } });
  const instant = kind === 'utc' ? time : instantOf(wall, zone);
  return formatRule({ ...rule, until: { kind: 'utc', time: Math.min(instant, LAST_TIME) } });
}

function contentProperties(content: EventContent, { seesDetails }: VEventView): Property[] {
  const shared = [
    property('STATUS', content.status.toUpperCase()),
    property('TRANSP', content.show_as === 'free' ? 'TRANSPARENT' : 'OPAQUE'),
    property('CLASS', content.visibility === 'private' || !seesDetails ? 'PRIVATE' : 'PUBLIC'),
  ];
  const busy = (BUSY_STATUS as Record<string, string>)[content.show_as];
  if (busy) shared.push(property('X-MICROSOFT-CDO-BUSYSTATUS', busy));
  if (!seesDetails) return [property('SUMMARY', 'Busy'), ...shared];
  const own: Property[] = [property('SUMMARY', escapeText(content.title)), ...shared];
  const place = content.location || content.locations.map(({ name }) => name).join(', ');
  if (content.description) own.push(property('DESCRIPTION', escapeText(content.description)));
  if (place) own.push(property('LOCATION', escapeText(place)));
  const geo = content.locations.find((each) => each.geo)?.geo;
  if (geo) own.push(property('GEO', `${float(geo.latitude)};${float(geo.longitude)}`));
  if (content.categories.length > 0)
    own.push(property('CATEGORIES', content.categories.map(escapeText).join(',')));
  if (content.color) own.push(...colorProperties(content.color));
  const url = content.conference?.url;
  if (url) own.push(property('CONFERENCE', url, { VALUE: 'URI', FEATURE: CONFERENCE_FEATURES }));
  for (const link of content.links)
    if (link.url) own.push(property('ATTACH', link.url, { 'X-FILENAME': link.title || null }));
  const kept = keptOf(content.custom).ics.filter(({ name }) => name !== 'UID');
  return [...own.filter((each) => !kept.some((other) => isOriginal(other, each))), ...kept];
}

/** COLOR has names only (RFC 7986, 5.9). @param color `#rrggbb` */
export const colorProperties = (color: string): Property[] => [
  property('X-APPLE-CALENDAR-COLOR', color),
  property('COLOR', nearestColorName(color)),
];

/** Whether an imported property, which has parameters that no field has, states the same as one that is made from a field. */
const isOriginal = (kept: Property, made: Property): boolean =>
  kept.name === made.name && (ORIGINALS.has(kept.name) || kept.value === made.value);

const ORIGINALS: ReadonlySet<string> = new Set([
  'CLASS',
  'SUMMARY',
  'DESCRIPTION',
  'LOCATION',
  'CATEGORIES',
  'COLOR',
]);

/** A FLOAT has no exponent (RFC 5545, 3.3.7), which JavaScript writes for numbers below a millionth. */
const float = (value: number): string => (Math.abs(value) < 1e-6 ? '0' : String(value));

/** ORGANIZER and ATTENDEE, with the responses to an instance. */
function people(record: EventRecord, key: string | null, custom: EventContent['custom']): Property[] {
  const { organizer_email: email, organizer_name: name } = record;
  const own =
    record.participants.length > 0
      ? [
          property('ORGANIZER', uriOfAddress(email), { CN: name || null }),
          ...attendeesAt(record, key).map(attendeeProperty),
        ]
      : [];
  return withParameters(own, keptOf(custom).people);
}

export const attendeeProperty = (row: ParticipantRow): Property =>
  property('ATTENDEE', uriOfAddress(row.email), {
    CN: row.name || null,
    CUTYPE: KINDS[row.kind],
    ROLE: ROLES[row.role],
    PARTSTAT: RESPONSES[row.response],
    RSVP: row.rsvp ? 'TRUE' : 'FALSE',
    'DELEGATED-TO': row.delegated_to && uriOfAddress(row.delegated_to),
    'DELEGATED-FROM': row.delegated_from && uriOfAddress(row.delegated_from),
  });

/** The instances with alarms of their own. */
const keysOfAlarms = ({ reminders = [], instanceAlarms }: VEventView): string[] => [
  ...reminders.flatMap((each) => Object.keys(each.instances ?? {})),
  ...Object.keys(instanceAlarms ?? {}),
];

/** Alarms of the reader, and components of an imported event that have no field. @param key of an instance; null: the whole event */
function componentsOf(
  { custom }: Pick<EventContent, 'custom'>,
  { seesDetails, reminders = [], alarms = [], instanceAlarms, ownerEmail }: VEventView,
  key: string | null,
): Component[] {
  if (!seesDetails) return [];
  const own = key === null ? undefined : instanceAlarms?.[key];
  const made = (own ? (own.reminders ?? []) : reminders).map((each) =>
    alarmVcomponent(each, ownerEmail, key),
  );
  return [...made, ...keptOf(custom).components, ...(own ? own.alarms : alarms)];
}
