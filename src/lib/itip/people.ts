import { type Component, parameterOf, propertiesOf, type Property, propertyOf } from '../icalendar/index.js';
import { addressKey, cutText, mailAddress } from '../text/index.js';

/** Further attendees of an event are ignored. */
export const MAX_ATTENDEES = 500;
const MAX_ADDRESS = 320;
const MAX_NAME = 200;

/** The ORGANIZER of an event. */
export interface Organizer {
  /** Lower case. */
  email: string;
  name: string;
  /** An address that may send for it; lower case. */
  sentBy: string | null;
}

/** An ATTENDEE of an event; values of RFC 5545 in upper case. */
export interface Attendee extends Organizer {
  role: string;
  kind: string;
  response: string;
  rsvp: boolean;
  delegatedTo: string | null;
  delegatedFrom: string | null;
  /** The note with the response that Google writes into the property. */
  note: string;
}

/** The address of `mailto:` or of a bare address, lower case; null for another URI. */
export function addressOfUri(uri: string | undefined): string | null {
  // An escaped `@` is one only when the URI is read.
  const address = withoutParameters(mailAddress(withoutParameters(withoutQuotes(uri ?? '')))).toLowerCase();
  const isAddress = /^[^\s@<>":\p{Cc}]+@[^\s@<>":\p{Cc}]+$/u.test(address) && address.length <= MAX_ADDRESS;
  return isAddress && address.isWellFormed() ? address : null;
}

/** Some programs write the whole URI in quotes, as the value of a parameter. */
const withoutQuotes = (uri: string): string => uri.trim().replace(/^"([^"]*)"$/, '$1');

/** Some programs write parameters after the address: `mailto:jo@example.com;PARTSTAT=ACCEPTED`. */
function withoutParameters(uri: string): string {
  const at = uri.indexOf('@');
  const end = at < 0 ? -1 : uri.indexOf(';', at);
  return end < 0 ? uri : uri.slice(0, end);
}

/** The address of an ORGANIZER or ATTENDEE, lower case: programs write it in EMAIL beside another URI. */
export const addressOfPerson = (person: Property): string | null =>
  addressOfUri(person.value) ?? addressOfUri(parameterOf(person, 'EMAIL'));

/** The inverse of `addressOfUri`: `mailto:` with the characters escaped that end or escape an address (RFC 6068, 2). */
export const uriOfAddress = (address: string): string =>
  `mailto:${address.replaceAll(/[%?#]/g, (character) => encodeURIComponent(character))}`;

/** Null for an event without ORGANIZER, and for an ORGANIZER without an address. */
export function organizerOf(event: Component): Organizer | null {
  const property = propertyOf(event, 'ORGANIZER');
  return property ? personOf(property) : null;
}

/**
 * The attendees with an address, each once. Beyond the limit there are only those who are kept, in place of the last ones.
 * @param isKept whether an address is one of the reader's
 */
export function attendeesOf(event: Component, isKept?: (email: string) => boolean): Attendee[] {
  const found = new Map<string, Attendee>();
  for (const property of propertiesOf(event, 'ATTENDEE')) {
    const person = personOf(property);
    if (!person || found.has(person.email)) continue;
    const isFull = found.size >= MAX_ATTENDEES;
    if (isFull && !isKept) break;
    if (isFull && !isKept?.(person.email)) continue;
    const value = (name: string): string => (parameterOf(property, name) ?? '').toUpperCase();
    found.set(person.email, {
      ...person,
      role: value('ROLE') || 'REQ-PARTICIPANT',
      kind: value('CUTYPE') || 'INDIVIDUAL',
      response: value('PARTSTAT') || 'NEEDS-ACTION',
      rsvp: value('RSVP') === 'TRUE',
      delegatedTo: addressOfUri(parameterOf(property, 'DELEGATED-TO')),
      delegatedFrom: addressOfUri(parameterOf(property, 'DELEGATED-FROM')),
      note: parameterOf(property, 'X-RESPONSE-COMMENT') ?? '',
    });
  }
  const all = [...found.values()];
  const kept = all.slice(MAX_ATTENDEES);
  return [...all.slice(0, Math.max(MAX_ATTENDEES - kept.length, 0)), ...kept].slice(0, MAX_ATTENDEES);
}

function personOf(property: Property): Organizer | null {
  const email = addressOfPerson(property);
  if (email === null) return null;
  return {
    email,
    name: cutText(nameOf(property), MAX_NAME),
    sentBy: addressOfUri(parameterOf(property, 'SENT-BY')),
  };
}

/** A name in apostrophes, which may have others between letters. */
const IN_APOSTROPHES = /^'((?:[^']|(?<=\p{L})'(?=\p{L}))*)'$/u;

/**
 * The name of CN, which has one value. Programs write commas in it without quotes, or with a backslash; Outlook writes names in
 * apostrophes.
 */
function nameOf({ parameters }: Property): string {
  const values = parameters.find(({ name }) => name === 'CN')?.values ?? [];
  const name = values
    .join(',')
    .replaceAll(/\\([,;\\])/g, '$1')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return IN_APOSTROPHES.exec(name)?.[1] ?? name;
}

/** Whether two addresses are one mailbox: letter case, a `+tag` and the spelling of the domain do not count. */
export const sameMailbox = (a: string, b: string): boolean => withoutTag(a) === withoutTag(b);

/** Removes `+tag`: mail for `jo+cal@…` is that of `jo@…` (RFC 5233). The result is as of `addressKey`. */
export function withoutTag(address: string): string {
  const lower = addressKey(address);
  const at = lower.lastIndexOf('@');
  const [local = ''] = lower.slice(0, at).split('+');
  return `${local}${lower.slice(at)}`;
}

/**
 * Whether a sender may send for an organizer or attendee: from its address, or from the address of SENT-BY. The sender writes SENT-BY,
 * so it counts only for an address in the domain of the sender, which the mail proves.
 */
export const maySendFor = (sender: string, { email, sentBy }: Pick<Organizer, 'email' | 'sentBy'>): boolean =>
  sameMailbox(sender, email) ||
  (sentBy !== null && sameMailbox(sender, sentBy) && domainOf(sentBy) === domainOf(email));

/** The domain of an address, in its letter case. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);
