import {
  type Component,
  formatTime,
  type Property,
  property,
  timesOf,
} from '../../../../lib/icalendar/index.js';
import { formatRule, instancesOf, parseRule } from '../../../../lib/recurrence/index.js';
import { FIRST } from '../event-times.js';
import { type Start, unlessInvalid } from '../vevent-time-parts.js';
import { onClock, rulesOf } from './file-rules.js';

/**
 * A series that starts before the first year of a calendar, such as a birthday of 1604 whose year is unknown, or an old feast, as one that starts
 * with its first instance in the calendar. Null for an event without such an instance, and for one with several rules.
 * @throws RecurrenceError
 */
export function withoutEarlyInstances(event: Component, start: Start): Component | null {
  const [text, ...others] = rulesOf(event, start, () => {});
  if (text === undefined || others.length > 0) return null;
  const stated = parseRule(text);
  const rule = onClock(stated, start);
  const series = { start: start.wall, zone: null, isDate: start.isDate, rules: [rule] };
  const [first] = instancesOf(series, { from: FIRST, to: Number.POSITIVE_INFINITY, limit: 1 });
  if (!first) return null;
  const early = rule.count === null ? 0 : instancesOf(series, { from: start.wall, to: FIRST }).length;
  const later = formatRule({ ...stated, count: rule.count === null ? null : rule.count - early });
  const shift = first.key - start.wall;
  const properties = event.properties.map((each) => {
    if (each.name === 'RRULE') return property('RRULE', later);
    return each.name === 'DTSTART' || each.name === 'DTEND' ? moved(each, shift) : each;
  });
  return { ...event, properties };
}

function moved(given: Property, shift: number): Property {
  const [time] = unlessInvalid(() => timesOf(given)) ?? [];
  return time ? { ...given, value: formatTime({ ...time, wall: time.wall + shift }) } : given;
}
