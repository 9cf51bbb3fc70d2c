import { LRUCache } from 'lru-cache';
import {
  canonicalZone,
  civilOf,
  DAY,
  dayOf,
  daysInMonth,
  formatWallTime,
  type Transition,
  weekdayOf,
  WEEKDAYS,
  Zone,
} from '../recurrence/index.js';
import { type Component, component, formatComponent, parameterOf, property } from './component.js';
import { formatOffset } from './values.js';

/** Number of consecutive years in which a change must repeat, so that it is written as a rule. */
const RULE_YEARS = 10;
const LAST_WEEK = -1;

/** No table of a zone goes beyond this year: that of Morocco ends in 2087. */
const LAST_TABLED = 2100;

/**
 * A VTIMEZONE of an IANA zone from the runtime's data (RFC 5545, 3.6.5), exact for the given years.
 * @param from first year
 * @param to last year; null for a series without end. If it is more than ten years away, changes that repeat from last year on are
 *   written as a rule
 */
export function vtimezoneOf(name: string, from: number, to: number | null): Component {
  const zone = Zone.of(name);
  const first = dayOf(from, 1, 1) * DAY;
  const ruleYear = Math.max(from, new Date().getUTCFullYear() - 1);
  const lastRuleYear = ruleYear + RULE_YEARS;
  const start = zone.offsetAt(first);
  const standard = observance('STANDARD', formatWallTime(first), start, start);
  const changesUntil = (year: number): Transition[] =>
    zone.transitionsBetween(first, dayOf(year + 1, 1, 1) * DAY);
  const rules = to === null || to > lastRuleYear ? repeated(changesUntil(lastRuleYear), ruleYear) : null;
  const last = to === null ? lastRuleYear : Math.min(to, Math.max(LAST_TABLED, lastRuleYear));
  return component(
    'VTIMEZONE',
    [property('TZID', name)],
    [standard, ...(rules ?? changesUntil(last).map(single))],
  );
}

/** Changes before `year` one by one, later ones as yearly rules. @returns null if the later ones do not repeat */
function repeated(changes: readonly Transition[], year: number): Component[] | null {
  const before = changes.filter((change) => placeOf(change).year < year);
  const later = changes.filter((change) => placeOf(change).year >= year);
  const byMonth = Map.groupBy(later, (change) => `${placeOf(change).month} ${change.before} ${change.after}`);
  const rules = [...byMonth.values()].map(yearlyRule);
  if (rules.some((rule) => rule === null)) return null;
  const written = rules.flatMap((rule, n) => {
    const [change] = [...byMonth.values()][n] as [Transition, ...Transition[]];
    const made = single(change);
    return [{ ...made, properties: [...made.properties, property('RRULE', rule as string)] }];
  });
  return [...before.map(single), ...written];
}

/** `FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU` if every change is on that day at the same wall time; otherwise null. */
function yearlyRule(changes: readonly Transition[]): string | null {
  const places = changes.map(placeOf);
  const [first] = places;
  if (!first || places.length < RULE_YEARS) return null;
  const same = places.every((place) => place.weekday === first.weekday && place.second === first.second);
  const isYearly = places.every((place, n) => place.year === first.year + n);
  if (!same || !isYearly) return null;
  const nth = places.every((place) => place.isLast)
    ? LAST_WEEK
    : places.every((place) => place.nth === first.nth)
      ? first.nth
      : null;
  return nth === null ? null : `FREQ=YEARLY;BYMONTH=${first.month};BYDAY=${nth}${WEEKDAYS[first.weekday]}`;
}

interface Place {
  year: number;
  month: number;
  weekday: number;
  nth: number;
  isLast: boolean;
  /** Second of the day on the clock before the change. */
  second: number;
}

function placeOf({ at, before }: Transition): Place {
  const wall = at + before;
  const days = Math.floor(wall / DAY);
  const { year, month, day } = civilOf(days);
  return {
    year,
    month,
    weekday: weekdayOf(days),
    nth: Math.ceil(day / 7),
    isLast: day + 7 > daysInMonth(year, month),
    second: wall - days * DAY,
  };
}

const single = ({ at, before, after }: Transition): Component =>
  observance(after > before ? 'DAYLIGHT' : 'STANDARD', formatWallTime(at + before), before, after);

function observance(name: string, start: string, before: number, after: number): Component {
  return component(name, [
    property('DTSTART', start.replaceAll(/[-:]/g, '')),
    property('TZOFFSETFROM', formatOffset(before)),
    property('TZOFFSETTO', formatOffset(after)),
  ]);
}

/** Texts by zone and first year: a zone of a long history takes milliseconds to write. */
const texts = new LRUCache<string, string>({ max: 1_000 });

/** The text of the VTIMEZONE of an IANA zone, without end; empty for a name that a property of another program has. @param from first year */
export function vtimezoneText(name: string, from: number): string {
  if (canonicalZone(name) === null) return '';
  const key = `${name} ${from}`;
  let text = texts.get(key);
  if (text === undefined) {
    text = formatComponent(vtimezoneOf(name, from, null));
    texts.set(key, text);
  }
  return text;
}

/** The zones that the times of components, and of the components in them, name. */
export function zonesIn(components: readonly Component[]): Set<string> {
  const names = new Set<string>();
  for (const { properties, components: inner } of components) {
    for (const each of properties) {
      const name = parameterOf(each, 'TZID');
      if (name !== undefined) names.add(name);
    }
    for (const name of zonesIn(inner)) names.add(name);
  }
  return names;
}
