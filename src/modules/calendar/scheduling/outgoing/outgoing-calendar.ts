import {
  component,
  type Component,
  escapeText,
  formatComponent,
  parameterOf,
  property,
  type Property,
  propertyOf,
  vtimezoneOf,
} from '../../../../lib/icalendar/index.js';
import { type ItipMethod, uriOfAddress } from '../../../../lib/itip/index.js';
import { instanceKeysOf, outsideAttendees, recordFor, wholeOf } from '../../model/attendance.js';
import { isOrphaned } from '../../model/dependent-properties.js';
import { FOLLOWING, responseAt } from '../../model/event-policy.js';
import type { EventRecord, ParticipantRow, ProposalRow } from '../../model/event-record.js';
import { PRODUCT } from '../../model/ics/product.js';
import {
  attendeeProperty,
  instanceVevent,
  stamp,
  timeProperty,
  timesOf,
  uidProperty,
  veventsOf,
} from '../../model/vevent.js';

/**
 * Properties that concern the organizer's own calendar only, and copies of the text and the place for single programs (RFC 9073, and
 * nearly all extensions), which may be older than these.
 */
const PRIVATE = /^(?:CREATED|LAST-MODIFIED|STYLED-DESCRIPTION|STRUCTURED-DATA|X-.*)$/;
const SHARED_EXTENSIONS = new Set(['X-MICROSOFT-DISALLOW-COUNTER']);
/** Properties of a response. */
const OF_RESPONSE = new Set(['UID', 'RECURRENCE-ID', 'DTSTART', 'DTEND', 'DURATION', 'SUMMARY', 'LOCATION']);
const DETAILS = { seesDetails: true };

/** A message to write. */
export interface OutgoingRequest {
  method: ItipMethod;
  /** Empty: the whole event; `>` before the key: the instance and all later ones. */
  key: string;
  /** The address from which the message is sent. */
  from: string;
  /** Lower case. DECLINECOUNTER has one recipient. */
  recipients: readonly string[];
  comment: string;
  /** The proposal of a COUNTER. */
  proposal: ProposalRow | null;
  /** RFC 3339: DTSTAMP of messages that state no version of the event. */
  now: string;
}

/** A message as iCalendar. */
export interface OutgoingCalendar {
  method: ItipMethod;
  sequence: number;
  /** RFC 3339. */
  dtstamp: string;
  ics: string;
}

/**
 * Writes a message of RFC 5546 about an event; null where its instance or attendee no longer exists, and for CANCEL to an attendee of what
 * takes place: the version would be the one of the invitation.
 */
export function outgoingCalendar(record: EventRecord, request: OutgoingRequest): OutgoingCalendar | null {
  switch (request.method) {
    case 'REPLY':
    case 'COUNTER':
    case 'REFRESH':
      return ofAttendee(record, request);
    case 'CANCEL':
      return isInvited(record, request) ? null : cancellation(record, request);
    case 'DECLINECOUNTER':
      return declined(record, request);
    default:
      return invitation(record, request);
  }
}

function invitation(record: EventRecord, request: OutgoingRequest): OutgoingCalendar | null {
  const { key, method } = request;
  const one = key === '' ? null : instanceVevent(record, key, DETAILS);
  if (key !== '' && !one) return null;
  const isCancelled = one ? statusOf(one) === 'CANCELLED' : record.status === 'cancelled';
  if (isCancelled && method === 'REQUEST') return cancellation(record, { ...request, method: 'CANCEL' });
  const events = (one ? [one] : receivedEvents(record, request)).map((event) =>
    withOrganizer(event, record, request),
  );
  return writeCalendar(method, events, record.sequence, record.dtstamp);
}

/** The event as its only recipient receives it: an attendee of some instances gets these without their series. */
function receivedEvents(record: EventRecord, { method, recipients }: OutgoingRequest): Component[] {
  const [recipient] = recipients;
  if (method === 'PUBLISH') return veventsOf(record, DETAILS);
  const isOwn = ({ email }: ParticipantRow): boolean => recipients.length === 1 && email === recipient;
  const keys = instanceKeysOf(record.participants.filter(isOwn));
  if (!keys) return veventsOf(recordFor(record, isOwn), DETAILS);
  return keys.flatMap((key) => instanceVevent(record, key, DETAILS) ?? []);
}

/** Whether an event or its instance takes place with one of the recipients, e.g. with one who was invited again after a removal. */
function isInvited(record: EventRecord, { key, recipients }: OutgoingRequest): boolean {
  if (record.status === 'cancelled' || record.deleted_at !== null || record.excluded.includes(key))
    return false;
  const instance = key === '' ? null : instanceVevent(record, key, DETAILS);
  if (key !== '' && (!instance || statusOf(instance) === 'CANCELLED')) return false;
  const invited = outsideAttendees(record, key);
  return recipients.some((email) => invited.includes(email));
}

/** CANCEL of the event or of one instance, also for an attendee that is no longer invited. */
function cancellation(record: EventRecord, request: OutgoingRequest): OutgoingCalendar | null {
  const { key, recipients } = request;
  const asBefore = { ...record, excluded: record.excluded.filter((other) => other !== key) };
  const event =
    key === ''
      ? veventsOf(record, DETAILS)[0]
      : (instanceVevent(asBefore, key, DETAILS) ?? instanceReference(record, key));
  if (!event) return null;
  const attendees = recipients.map((email) => attendeeOf(record, email));
  const properties = event.properties.filter(({ name }) => !/^(?:STATUS|ORGANIZER|ATTENDEE)$/.test(name));
  const people = [organizer(record, request.from), ...attendees];
  const own = [property('STATUS', 'CANCELLED'), ...people, ...comment(request)];
  const cancelled = { ...event, properties: [...properties.filter(isShared), ...own] };
  return writeCalendar('CANCEL', [cancelled], record.sequence, record.dtstamp);
}

function declined(record: EventRecord, request: OutgoingRequest): OutgoingCalendar | null {
  const { key, recipients, now } = request;
  const event = key === '' ? veventsOf(record, DETAILS)[0] : instanceVevent(record, key, DETAILS);
  if (!event) return null;
  const people = [organizer(record, request.from), ...recipients.map((email) => attendeeOf(record, email))];
  const kept = event.properties.filter(({ name }) => OF_RESPONSE.has(name));
  const properties = [...version(record.sequence, now), ...kept, ...people, ...comment(request)];
  return writeCalendar('DECLINECOUNTER', [component('VEVENT', properties)], record.sequence, now);
}

/** REPLY, COUNTER and REFRESH of an attendee to an organizer outside of the workspace. */
function ofAttendee(record: EventRecord, request: OutgoingRequest): OutgoingCalendar | null {
  const { method, from, proposal } = request;
  const key = request.key.replace(FOLLOWING, '');
  const row = responseOf(record, from, request.key);
  const events = respondedEvents(record, key);
  const [first] = events;
  if (!first || !row) return null;
  const dtstamp = method === 'REPLY' ? (row.responded_at ?? request.now) : request.now;
  const names = method === 'REFRESH' ? new Set(['UID', 'RECURRENCE-ID']) : OF_RESPONSE;
  const responses = events.map(({ event, sequence }) => {
    const kept = event.properties
      .filter(({ name }) => names.has(name) && !(proposal && /^DT(?:START|END)$|^DURATION$/.test(name)))
      .map((each) => (request.key.startsWith(FOLLOWING) ? withRange(each) : each));
    return component('VEVENT', [
      ...version(sequence, dtstamp),
      ...kept,
      ...(proposal ? timesOf(proposal) : []),
      property('ORGANIZER', uriOfAddress(record.organizer_email), { CN: record.organizer_name || null }),
      attendeeProperty({ ...row, rsvp: false }),
      ...comment(request),
    ]);
  });
  return writeCalendar(method, responses, first.sequence, dtstamp);
}

/** What a response is about, with the version of each part: the event, or instances. @param key empty: the whole event */
function respondedEvents(record: EventRecord, key: string): { event: Component; sequence: number }[] {
  const whole = key === '' ? veventsOf(record, DETAILS) : [];
  const events = isOrphaned(record) ? whole : whole.slice(0, 1);
  if (key !== '') events.push(...[instanceVevent(record, key, DETAILS) ?? []].flat());
  const own = record.overrides.find(({ recurrence_key }) => recurrence_key === key)?.sequence;
  return events.map((event) => ({
    event,
    sequence: isOrphaned(record) ? Number(propertyOf(event, 'SEQUENCE')?.value) : (own ?? record.sequence),
  }));
}

/** A VEVENT that only names an instance, for one that the series no longer has. */
const instanceReference = (record: EventRecord, key: string): Component =>
  component('VEVENT', [
    uidProperty(record),
    timeProperty('RECURRENCE-ID', key, record.time_zone),
    timeProperty('DTSTART', key, record.time_zone),
  ]);

/** ATTENDEE of a recipient, also of one that is no longer invited. */
function attendeeOf(record: EventRecord, recipient: string): Property {
  const row = wholeOf(record.participants, recipient);
  return row ? attendeeProperty(row) : property('ATTENDEE', uriOfAddress(recipient));
}

/** The response of an attendee to the event, to an instance, or to an instance and all later ones. */
export function responseOf(record: EventRecord, email: string, key: string): ParticipantRow | undefined {
  const own = record.participants.filter((row) => row.email === email);
  return (
    own.find(({ recurrence_key }) => recurrence_key === key) ??
    responseAt(own, key === '' ? null : key.replace(FOLLOWING, ''))
  );
}

const withRange = (each: Property): Property =>
  each.name === 'RECURRENCE-ID'
    ? { ...each, parameters: [...each.parameters, { name: 'RANGE', values: ['THISANDFUTURE'] }] }
    : each;

const isShared = ({ name }: Property): boolean => !PRIVATE.test(name) || SHARED_EXTENSIONS.has(name);

const statusOf = (event: Component): string => propertyOf(event, 'STATUS')?.value ?? '';

const version = (sequence: number, dtstamp: string): Property[] => [
  property('DTSTAMP', stamp(dtstamp)),
  property('SEQUENCE', String(sequence)),
];

const comment = ({ comment: text }: OutgoingRequest): Property[] =>
  text === '' ? [] : [property('COMMENT', escapeText(text))];

const organizer = (record: EventRecord, address: string): Property =>
  property('ORGANIZER', uriOfAddress(address), { CN: record.organizer_name || null });

/** Responses go to the organizer's mailbox, whose address may differ from the one of the account. */
function withOrganizer(event: Component, record: EventRecord, request: OutgoingRequest): Component {
  const own = uriOfAddress(record.organizer_email);
  const properties = event.properties.filter(isShared).flatMap((each): Property[] => {
    if (each.name === 'ORGANIZER') return [organizer(record, request.from)];
    // Anyone may receive a published event (RFC 5546, 3.2.1).
    if (each.name === 'ATTENDEE' && request.method === 'PUBLISH') return [];
    if (each.name !== 'ATTENDEE') return [each];
    const parameters = each.parameters.filter(({ name }) => !/^(?:X-|SCHEDULE-)/.test(name));
    return [{ ...each, parameters, value: each.value === own ? uriOfAddress(request.from) : each.value }];
  });
  const hasOrganizer = properties.some(({ name }) => name === 'ORGANIZER');
  const people = hasOrganizer ? [] : [organizer(record, request.from)];
  return { ...event, properties: [...properties, ...people, ...comment(request)], components: [] };
}

function writeCalendar(
  method: ItipMethod,
  events: Component[],
  sequence: number,
  dtstamp: string,
): OutgoingCalendar {
  const head = [
    property('VERSION', '2.0'),
    property('PRODID', PRODUCT),
    property('CALSCALE', 'GREGORIAN'),
    property('METHOD', method),
  ];
  const calendar = component('VCALENDAR', head, [...zonesOf(events), ...events]);
  return { method, sequence, dtstamp, ics: formatComponent(calendar) };
}

/** Properties that have a zone of the event. Those of other programs may name zones that the file of the event defined. */
const TIMES: ReadonlySet<string> = new Set(['DTSTART', 'DTEND', 'RECURRENCE-ID', 'RDATE', 'EXDATE']);

/** A VTIMEZONE for each zone, for the years that the events cover. */
function zonesOf(events: readonly Component[]): Component[] {
  const years = new Map<string, { from: number; to: number }>();
  for (const { properties } of events)
    for (const each of properties) {
      const zone = parameterOf(each, 'TZID');
      const year = Number(each.value.slice(0, 4));
      if (zone === undefined || !TIMES.has(each.name) || !Number.isFinite(year)) continue;
      const known = years.get(zone) ?? { from: year, to: year };
      years.set(zone, { from: Math.min(known.from, year), to: Math.max(known.to, year) });
    }
  const isSeries = events.some((event) => propertyOf(event, 'RRULE'));
  return [...years].map(([zone, { from, to }]) => vtimezoneOf(zone, from, isSeries ? null : to));
}
