import { canonicalZone, DAY, Zone } from '../recurrence/index.js';
import { component, type Component, ICalendarError, property, propertyOf } from './component.js';
import { formatOffset, unescapeText } from './values.js';
import { LARGE_ZONES, offsetOfTitle, WINDOWS_ZONES, zoneOfTitle } from './zone-titles.js';
import { ZoneRules } from './zone-rules.js';

/**
 * A resolved TZID: an IANA zone, or the rules of a VTIMEZONE that match no IANA zone, with the IANA zone that differs from them for the
 * shortest time.
 */
export type ResolvedZone =
  | { kind: 'iana'; name: string }
  | { kind: 'rules'; rules: ZoneRules; nearest: string };
const YEAR = 365 * DAY;
const WEEK = 7 * DAY;
/** Weeks in which the offsets of a VTIMEZONE and of an IANA zone are compared. */
const COMPARED_WEEKS = 2 * 53;
/** Windows changes some zones a second before midnight. */
const TOLERANCE = 60;
/** Days of the first year on which all offsets must agree before the changes are compared. */
const SAMPLED_DAYS = [15, 195];
/** Changes in the compared years. No zone has as many. */
const MAX_CHANGES = 24;
const MAX_MATCHES = 1_000;
/** Seconds by which changes of law move the offset of a place. */
const FORMER_RULES = 2 * 3_600;
const matches = new Map<string, ZoneMatch>();

/** Finds the zone of each TZID of one calendar (RFC 5545, 3.2.19). */
export class CalendarZones {
  private readonly resolved = new Map<string, ResolvedZone | null>();

  /** @param calendar the VCALENDAR; its VTIMEZONEs are read when a TZID needs them */
  constructor(private readonly calendar: Component) {}

  /**
   * Tries, in this order: a name of a place in the IANA database, also at the end of a path such as
   * `/mozilla.org/20050126_1/Europe/Berlin`; the VTIMEZONE, as the zone of its name if that has the same offsets, else as an IANA zone
   * that has, else as its own rules; any other known name; the offset that the name states. A place comes first because files keep its former rules; a short name such
   * as `EST` has as many meanings as writers.
   * @param around an instant in seconds near which offsets are compared
   * @returns null for an unknown name without a usable VTIMEZONE
   */
  resolve(tzid: string, around: number): ResolvedZone | null {
    const known = this.resolved.get(tzid);
    if (known !== undefined) return known;
    const found = this.find(tzid, around);
    this.resolved.set(tzid, found);
    return found;
  }

  private find(tzid: string, around: number): ResolvedZone | null {
    const place = placeOfName(tzid);
    const zone = this.calendar.components.find(
      (each) => each.name === 'VTIMEZONE' && idText(propertyOf(each, 'TZID')?.value ?? '') === idText(tzid),
    );
    // The names of offsets are no places whose law may have changed since the file was written.
    if (place && (!zone || !isOffsetName(place))) return { kind: 'iana', name: place };
    const name = zoneOfName(tzid);
    if (!zone) return name === null ? zoneOfOffset(tzid, around) : { kind: 'iana', name };
    const location = placeOfName(propertyOf(zone, 'X-LIC-LOCATION')?.value ?? '');
    try {
      const rules = new ZoneRules(zone);
      if (location && isLike(rules, location, around)) return { kind: 'iana', name: location };
      const { nearest, isEqual } = zoneOfRules(rules, around, name);
      return isEqual ? { kind: 'iana', name: nearest } : { kind: 'rules', rules, nearest };
    } catch (error) {
      if (!(error instanceof ICalendarError)) throw error;
      const known = location ?? name;
      return known === null ? null : { kind: 'iana', name: known };
    }
  }
}

/** The rules of offsets. Names have offsets of whole minutes, up to 14 hours. */
const offsetRules = new Map<number, ZoneRules>();

/** The zone of a name that states an offset which no IANA zone has all year: as a VTIMEZONE with this offset. */
function zoneOfOffset(tzid: string, around: number): ResolvedZone | null {
  const offset = offsetOfTitle(plainName(tzid));
  if (offset === null) return null;
  const rules = offsetRules.get(offset) ?? rulesOfOffset(offset);
  offsetRules.set(offset, rules);
  return { kind: 'rules', rules, nearest: zoneOfRules(rules, around, null).nearest };
}

/** An offset with the instant from which on it holds, seconds. */
interface Offset {
  at: number;
  offset: number;
}

/** The offsets of zones in the compared weeks of years, by the beginning of the year. */
const yearsOfZones = new Map<number, Map<string, Offset[]>>();
const MAX_YEARS = 16;

/** The offsets of a zone in the compared weeks from a moment on. */
function offsetsOf(name: string, from: number): Offset[] {
  let year = yearsOfZones.get(from);
  if (!year) {
    if (yearsOfZones.size >= MAX_YEARS) yearsOfZones.clear();
    yearsOfZones.set(from, (year = new Map()));
  }
  let found = year.get(name);
  if (!found) {
    const zone = Zone.of(name);
    const changes = zone.transitionsBetween(from, from + COMPARED_WEEKS * WEEK).map(({ at }) => at);
    found = [from, ...changes].map((at) => ({ at, offset: zone.offsetAt(at) }));
    year.set(name, found);
  }
  return found;
}

function rulesOfOffset(offset: number): ZoneRules {
  const text = formatOffset(offset);
  return new ZoneRules(
    component(
      'VTIMEZONE',
      [],
      [
        component('STANDARD', [
          property('DTSTART', '16010101T000000'),
          property('TZOFFSETFROM', text),
          property('TZOFFSETTO', text),
        ]),
      ],
    ),
  );
}

/** TZID of a VTIMEZONE is escaped text; some clients escape the parameter too. */
const idText = (tzid: string): string => unescapeText(tzid).trim();

/** Names of UTC. Exchange writes `tzone://Microsoft/Utc`. */
const UTC = /^(?:gmt|z|(?:\(utc\) )?coordinated universal time|universal coordinated time)$|(?:^|\/)utc$/i;

const plainName = (tzid: string): string => tzid.trim().replaceAll(/^["']|["']$/g, '');

/** The IANA name of a place, such as `Europe/Berlin`, that a TZID is or ends with; null if there is none. */
function placeOfName(tzid: string): string | null {
  const parts = plainName(tzid).split('/').slice(-3);
  for (let n = 0; n < parts.length - 1; n += 1) {
    const name = canonicalZone(parts.slice(n).join('/'));
    // `Etc/GMT+5` is no place, but it has one meaning.
    if (name) return /^etc\/(?:utc|uct|gmt|zulu|universal|greenwich)$/i.test(name) ? 'UTC' : name;
  }
  return null;
}

/** The IANA name that a TZID contains, or that a name or a title of Windows, Exchange or Lotus Notes means; null if there is none. */
export function zoneOfName(tzid: string): string | null {
  const text = plainName(tzid);
  if (UTC.test(text)) return 'UTC';
  const named = placeOfName(text) ?? canonicalZone(text);
  if (named) return named;
  if (Object.hasOwn(WINDOWS_ZONES, text)) return canonicalZone(WINDOWS_ZONES[text] as string);
  // `Europe-Berlin` and `America_New_York` in systems whose names have no slash.
  return zoneOfTitle(text) ?? canonicalZone(text.replace(/^([a-z]+)[-_]/i, '$1/'));
}

const isOffsetName = (name: string): boolean => name === 'UTC' || name.startsWith('Etc/');

/** Whether rules are those of a place, or former ones of it: no offset of the year differs by more than two hours. */
function isLike(rules: ZoneRules, place: string, around: number): boolean {
  const from = Math.floor(around / YEAR) * YEAR;
  return SAMPLED_DAYS.every((day) => {
    const at = from + day * DAY;
    return Math.abs(Zone.of(place).measure(at) - rules.offsetAt(at)) <= FORMER_RULES;
  });
}

let candidates: readonly string[] | undefined;

/** Large zones, then one IANA zone for each zone of Windows: they cover the offsets in use. */
function commonZones(): readonly string[] {
  candidates ??= [
    ...new Set(
      [...LARGE_ZONES, ...Object.values(WINDOWS_ZONES)].flatMap((name) => canonicalZone(name) ?? []),
    ),
  ];
  return candidates;
}

interface ZoneMatch {
  nearest: string;
  isEqual: boolean;
}

/** The IANA zone that is most like the rules in the two years from `around` on. @param named is preferred among equal ones */
function zoneOfRules(rules: ZoneRules, around: number, named: string | null): ZoneMatch {
  const from = Math.floor(around / YEAR) * YEAR;
  const to = from + COMPARED_WEEKS * WEEK;
  const changes = rules.changesBetween(from, to);
  if (changes.length > MAX_CHANGES) return { nearest: named ?? 'UTC', isEqual: false };
  const key = [from, rules.offsetAt(from), named, ...changes.flatMap(({ at, after }) => [at, after])].join();
  const known = matches.get(key);
  if (known) return known;
  const samples = SAMPLED_DAYS.map((day) => ({
    at: from + day * DAY,
    offset: rules.offsetAt(from + day * DAY),
  }));
  const isAlike = (name: string): boolean =>
    samples.every(({ at, offset }) => Zone.of(name).measure(at) === offset);
  const edges = [from, ...changes.map(({ at }) => at).toSorted((a, b) => a - b)];
  const own = edges.map((at) => ({ at, offset: rules.offsetAt(at) }));
  const all = named === null ? commonZones() : [named, ...commonZones()];
  const alike = all.filter(isAlike);
  const names = alike.length > 0 ? alike : LARGE_ZONES;
  let best: ZoneMatch & { apart: number } = {
    nearest: 'UTC',
    isEqual: false,
    apart: Number.POSITIVE_INFINITY,
  };
  for (const name of names) {
    const apart = secondsApart(own, offsetsOf(name, from), to);
    if (apart >= best.apart) continue;
    best = { nearest: name, isEqual: apart <= TOLERANCE * changes.length, apart };
    if (best.isEqual) break;
  }
  if (matches.size >= MAX_MATCHES) matches.clear();
  const found = { nearest: best.nearest, isEqual: best.isEqual };
  matches.set(key, found);
  return found;
}

/** The difference of the offsets of two zones, added up over all seconds until a moment; relative to an hour. */
function secondsApart(one: readonly Offset[], other: readonly Offset[], to: number): number {
  let apart = 0;
  let [n, m] = [0, 0];
  for (;;) {
    const [a, b] = [one[n] as Offset, other[m] as Offset];
    const [nextA, nextB] = [one[n + 1]?.at ?? to, other[m + 1]?.at ?? to];
    const next = Math.min(nextA, nextB);
    apart += (next - Math.max(a.at, b.at)) * (Math.abs(a.offset - b.offset) / 3600);
    if (next >= to) return apart;
    if (nextA === next) n += 1;
    if (nextB === next) m += 1;
  }
}
