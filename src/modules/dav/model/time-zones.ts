import {
  CalendarZones,
  ICalendarError,
  parseCalendars,
  propertyOf,
  zoneOfName,
} from '../../../lib/icalendar/index.js';
import type { XmlElement } from '../../../lib/xml/index.js';
import { DavError } from './body.js';
import { childOf } from './multistatus.js';
import { caldav } from './xml-names.js';

/** Characters of a VTIMEZONE that is read. */
const MAX_ZONE = 64 * 1024;

/** The zone of the IANA database that a VTIMEZONE means, or is most like; null for another text. */
export function zoneIn(text: string): string | null {
  if (text.length > MAX_ZONE) return null;
  try {
    const [calendar] = parseCalendars(text);
    const zone = calendar?.components.find(({ name }) => name === 'VTIMEZONE');
    const name = zone && propertyOf(zone, 'TZID')?.value;
    const found = calendar && name ? new CalendarZones(calendar).resolve(name, Date.now() / 1000) : null;
    return found && (found.kind === 'iana' ? found.name : found.nearest);
  } catch (error) {
    if (error instanceof ICalendarError) return null;
    throw error;
  }
}

/**
 * The zone in which a `calendar-query` reads days and times without a zone (RFC 4791, 9.8; RFC 7809); undefined where it states none.
 * @throws DavError 403 `valid-timezone` for an id that is not known
 */
export function queryZone(report: XmlElement): string | undefined {
  const id = childOf(report, caldav('timezone-id'))?.text.trim();
  if (id === undefined) return zoneIn(childOf(report, caldav('timezone'))?.text ?? '') ?? undefined;
  const zone = zoneOfName(id);
  if (zone === null) throw new DavError(403, caldav('valid-timezone'), 'The time zone is not known.');
  return zone;
}
