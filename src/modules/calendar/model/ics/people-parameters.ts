import { type Component, parameterOf, type Property } from '../../../../lib/icalendar/index.js';
import { addressOfPerson, MAX_ATTENDEES, uriOfAddress } from '../../../../lib/itip/index.js';
import { storableProperty } from './storable.js';

/** Parameters that columns of an event and its attendees state. */
const STORED: Readonly<Record<string, ReadonlySet<string>>> = {
  ORGANIZER: new Set(['CN']),
  ATTENDEE: new Set(['CN', 'CUTYPE', 'ROLE', 'PARTSTAT', 'RSVP', 'DELEGATED-TO', 'DELEGATED-FROM']),
};
/** Parameters of a single request or response (RFC 6638, 7.2 and 7.3). */
const MOMENTARY: ReadonlySet<string> = new Set(['SCHEDULE-FORCE-SEND', 'SCHEDULE-STATUS']);
/** Bytes of JSON of all parameters of an event. */
const MAX_BYTES = 16 * 1024;

/**
 * The parameters of ORGANIZER and ATTENDEE that no column states, such as LANGUAGE, SENT-BY, SCHEDULE-AGENT and X- parameters, in the
 * order of the addresses. An ATTENDEE without an address is returned as it is written.
 */
export function peopleParameters({ properties }: Component): Property[] {
  const found = new Map<string, Property>();
  let bytes = 0;
  for (const each of properties) {
    const stored = STORED[each.name];
    if (!stored || found.size > MAX_ATTENDEES) continue;
    const email = addressOfPerson(each);
    if (email === null && each.name === 'ORGANIZER') continue;
    const others = each.parameters.filter(({ name }) => !stored.has(name) && !MOMENTARY.has(name));
    const kept = email === null ? each : { ...each, parameters: others, value: uriOfAddress(email) };
    const key = `${each.name} ${kept.value}`;
    if (found.has(key) || (email !== null && others.length === 0)) continue;
    bytes += JSON.stringify(kept).length;
    if (bytes <= MAX_BYTES) found.set(key, storableProperty(kept));
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/**
 * Whether the server sends messages to an address; false for messages that the program sends itself, or that nobody sends (RFC 6638, 7.1).
 * @param people ORGANIZER, where it is about all messages, and ATTENDEE
 */
export const isServed = (people: readonly Property[], recipient: string): boolean =>
  people.every(
    (each) =>
      (parameterOf(each, 'SCHEDULE-AGENT') ?? 'SERVER').toUpperCase() === 'SERVER' ||
      (each.name === 'ATTENDEE' && addressOfPerson(each) !== recipient),
  );

/** Those whom a program asks the server to send a message to, even where nothing has changed (RFC 6638, 7.2). */
export const forcedBy = (people: readonly Property[], method: 'REQUEST' | 'REPLY'): Property[] =>
  people.filter((each) => parameterOf(each, 'SCHEDULE-FORCE-SEND')?.toUpperCase() === method);

/** A VEVENT without what its sender states for servers: that is no part of a message (RFC 6638, 7). */
export function withoutScheduling(event: Component): Component {
  const properties = event.properties.map((each) =>
    STORED[each.name]
      ? { ...each, parameters: each.parameters.filter(({ name }) => !name.startsWith('SCHEDULE-')) }
      : each,
  );
  return { ...event, properties };
}

/** ORGANIZER and ATTENDEE with the parameters that no column states, and the attendees without an address. */
export function withParameters(people: readonly Property[], kept: readonly Property[]): Property[] {
  if (kept.length === 0) return [...people];
  const parameters = new Map(kept.map((each) => [`${each.name} ${each.value}`, each.parameters]));
  const others = kept.filter((each) => each.name === 'ATTENDEE' && addressOfPerson(each) === null);
  return [
    ...people.map((each) => {
      const own = parameters.get(`${each.name} ${each.value}`) ?? [];
      return { ...each, parameters: [...each.parameters, ...own] };
    }),
    ...others,
  ];
}
