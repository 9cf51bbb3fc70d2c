import { formatXml, type XmlElement } from '../../../lib/xml/index.js';
import type { PropertyChanges } from './collection.js';
import { apple, calendarServer, CALDAV, CARDDAV, DAV, infIt, type XmlName } from './xml-names.js';

/** XML by name. */
export type DeadProperties = Readonly<Record<XmlName, string>>;

/** Properties of one collection and user, and bytes of all of them. */
const MAX_COUNT = 100;
const MAX_BYTES = 32 * 1024;

const LIVE_SPACES: ReadonlySet<string> = new Set([DAV, CALDAV, CARDDAV]);
const LIVE: ReadonlySet<XmlName> = new Set([
  apple('calendar-color'),
  apple('calendar-order'),
  infIt('addressbook-color'),
  calendarServer('getctag'),
]);

/** Whether only the server gives a meaning to the property; the others are kept as they are (RFC 4918, 4.1). */
export const isLive = (name: XmlName): boolean =>
  LIVE.has(name) || LIVE_SPACES.has(name.slice(1, name.indexOf('}')));

/**
 * Characters of the markup of an element, at least. A child in another namespace repeats its name, so that the markup of a body within
 * its limit may be larger than any text.
 */
function lengthOf({ space, name, attributes, qualified, content }: XmlElement, scope = ''): number {
  let length = name.length + (space === scope ? 0 : space.length);
  for (const value of Object.values(attributes)) length += value.length;
  for (const each of qualified) length += each.space.length + each.value.length;
  for (const part of content) length += typeof part === 'string' ? part.length : lengthOf(part, space);
  return length;
}

/** The properties after changes; null: more than a collection can have. */
export function changedProperties(stored: DeadProperties, changes: PropertyChanges): DeadProperties | null {
  const result = new Map(Object.entries(stored));
  for (const [name, value] of changes)
    if (value === null) result.delete(name);
    else if (lengthOf(value) > MAX_BYTES) return null;
    else result.set(name, formatXml(value));
  const bytes = [...result].flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return result.size > MAX_COUNT || bytes > MAX_BYTES ? null : Object.fromEntries(result);
}
