import { canonicalZone, DAY, Zone } from '../recurrence/index.js';
import { type Component, propertyOf } from './component.js';
import { ICalendarError } from './errors.js';
import { unescapeText } from './values.js';
import { WINDOWS_ZONES } from './windows-zones.js';
import { ZoneRules } from './zone-rules.js';

/** A resolved TZID: an IANA zone, or the rules of a VTIMEZONE that match no IANA zone. */
export type ResolvedZone = { kind: 'iana'; name: string } | { kind: 'rules'; rules: ZoneRules };
const YEAR = 365 * DAY;
const WEEK = 7 * DAY;
/** Weeks in which the offsets of a VTIMEZONE and of an IANA zone must agree. */
const COMPARED_WEEKS = 2 * 53;
const MAX_MATCHES = 1_000;
const matches = new Map<string, string | null>();

/** Finds the zone of each TZID of one calendar (RFC 5545, 3.2.19). */
export class CalendarZones {
  private readonly resolved = new Map<string, ResolvedZone | null>();

  /** @param calendar the VCALENDAR; its VTIMEZONEs are read when a TZID needs them */
  constructor(private readonly calendar: Component) {}

  /**
   * Tries, in this order: the name itself, the IANA name at the end of a path such as `/mozilla.org/20050126_1/Europe/Berlin`,
   * the Windows name, X-LIC-LOCATION of the VTIMEZONE, the IANA zone with the same offsets, the VTIMEZONE's own rules.
   * @param around an instant in seconds near which offsets are compared
   * @returns null for an unknown name without a VTIMEZONE
   */
  resolve(tzid: string, around: number): ResolvedZone | null {
    const known = this.resolved.get(tzid);
    if (known !== undefined) return known;
    const found = this.find(tzid, around);
    this.resolved.set(tzid, found);
    return found;
  }

  private find(tzid: string, around: number): ResolvedZone | null {
    const named = zoneOfName(tzid);
    if (named) return { kind: 'iana', name: named };
    const zone = this.calendar.components.find(
      (each) => each.name === 'VTIMEZONE' && idText(propertyOf(each, 'TZID')?.value ?? '') === idText(tzid),
    );
    if (!zone) return null;
    const location = zoneOfName(propertyOf(zone, 'X-LIC-LOCATION')?.value ?? '');
    if (location) return { kind: 'iana', name: location };
    try {
      const rules = new ZoneRules(zone);
      const name = zoneOfOffsets(rules, around);
      return name === null ? { kind: 'rules', rules } : { kind: 'iana', name };
    } catch (error) {
      if (error instanceof ICalendarError) return null;
      throw error;
    }
  }
}

/** TZID of a VTIMEZONE is escaped text; some clients escape the parameter too. */
const idText = (tzid: string): string => unescapeText(tzid).trim();

/** Names of UTC. Exchange writes `tzone://Microsoft/Utc`. */
const UTC = /^(?:gmt|z|(?:\(utc\) )?coordinated universal time)$|(?:^|\/)utc$/i;

/** The IANA name that a TZID contains or that a Windows name means; null if there is none. */
export function zoneOfName(tzid: string): string | null {
  const text = tzid.trim().replaceAll(/^"|"$/g, '');
  if (UTC.test(text)) return 'UTC';
  const direct = canonicalZone(text);
  if (direct) return direct;
  if (Object.hasOwn(WINDOWS_ZONES, text)) return canonicalZone(WINDOWS_ZONES[text] as string);
  const parts = text.split('/').slice(-3);
  for (let n = 0; n < parts.length; n += 1) {
    const name = canonicalZone(parts.slice(n).join('/'));
    // A single word such as `EST` at the end of a path is ambiguous.
    if (name && parts.length - n > 1) return name;
  }
  return null;
}

let candidates: readonly string[] | undefined;

/** One IANA zone for each zone of Windows: they cover the offsets in use. */
function commonZones(): readonly string[] {
  candidates ??= [...new Set(Object.values(WINDOWS_ZONES))].flatMap((name) => canonicalZone(name) ?? []);
  return candidates;
}

/** The common IANA zone with the same offsets in the two years from `around` on; null if there is none. */
function zoneOfOffsets(rules: ZoneRules, around: number): string | null {
  const from = Math.floor(around / YEAR) * YEAR;
  const offsets = Array.from({ length: COMPARED_WEEKS }, (_, n) => rules.offsetAt(from + n * WEEK));
  const key = `${from} ${offsets.join()}`;
  const known = matches.get(key);
  if (known !== undefined) return known;
  const found = commonZones().find((name) => {
    const zone = Zone.of(name);
    return offsets.every((offset, n) => zone.offsetAt(from + n * WEEK) === offset);
  });
  if (matches.size >= MAX_MATCHES) matches.clear();
  matches.set(key, found ?? null);
  return found ?? null;
}
