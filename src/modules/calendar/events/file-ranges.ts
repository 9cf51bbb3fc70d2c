import {
  type Component,
  formatTime,
  parameterOf,
  propertiesOf,
  property,
  type Property,
  propertyOf,
  timesOf,
} from '../../../lib/icalendar/index.js';
import { DAY, formatRule, parseRule, type Rule } from '../../../lib/recurrence/index.js';
import { laterKeys } from '../model/following.js';
import { wallOf } from '../model/event-times.js';
import type { Start } from '../model/vevent-time-parts.js';
import type { FileEvent } from './ics-file.js';

/** Changes of more instances than this are not stored one by one. */
const MAX_CHANGED = 999;
const COPIED = new Set(['UID', 'RECURRENCE-ID', 'RRULE', 'RDATE', 'EXDATE', 'EXRULE']);

/**
 * Splits a series before an instance from which on it changes (RFC 5545, 3.2.13, RANGE=THISANDFUTURE), if the change covers too many
 * instances to store each. The later part is an event of its own; its UID derives from the UID of the series, so that a repeated import
 * finds it. A series that cannot be split is returned as it is.
 */
export function splitRanges(event: FileEvent): FileEvent[] {
  const { master, instances, clock } = event;
  if (!master) return [event];
  for (const range of instances) {
    const id = propertyOf(range, 'RECURRENCE-ID');
    if (!id || parameterOf(id, 'RANGE')?.toUpperCase() !== 'THISANDFUTURE') continue;
    const start = clock.begin(master);
    const times = clock.times(master, start);
    const recurrence = clock.recurrence(master, start, times);
    const key = clock.keyOf(id, start, times);
    const series = { ...times, ...recurrence };
    if (key === null || laterKeys({ ...series, overrides: [] }, key).length <= MAX_CHANGED) continue;
    const first = wallOf(key);
    const later = clock.start(range);
    const rules = recurrence.rules.map((text) => laterRule(parseRule(text), first, later.wall));
    const isAlike = later.isDate === start.isDate && !start.rules && !later.rules;
    if (!isAlike || rules.includes(null) || first <= wallOf(times.starts)) continue;
    return [
      { ...event, master: earlierPart(master, first, start), instances: before(event, first, start, times) },
      ...splitRanges(laterPart(event, range, rules as Rule[], first, start, later)),
    ];
  }
  return [event];
}

type Times = ReturnType<FileEvent['clock']['times']>;

const keyWall = ({ clock }: FileEvent, instance: Component, start: Start, times: Times): number => {
  const id = propertyOf(instance, 'RECURRENCE-ID');
  const key = id && clock.keyOf(id, start, times);
  return key ? wallOf(key) : Number.NEGATIVE_INFINITY;
};

const before = (event: FileEvent, first: number, start: Start, times: Times): Component[] =>
  event.instances.filter((instance) => keyWall(event, instance, start, times) < first);

function earlierPart(master: Component, first: number, { isDate }: Start): Component {
  const kind = isDate ? 'date' : 'wall';
  const until = { kind, time: first - (isDate ? DAY : 1) } as const;
  return {
    ...master,
    properties: master.properties.map((each) =>
      each.name === 'RRULE'
        ? property('RRULE', formatRule({ ...parseRule(each.value), count: null, until }))
        : each,
    ),
  };
}

function laterPart(
  event: FileEvent,
  range: Component,
  rules: readonly Rule[],
  first: number,
  start: Start,
  later: Start,
): FileEvent {
  const { master, clock } = event;
  const times = clock.times(master as Component, start);
  const shift = later.wall - first;
  const dtstart = propertyOf(range, 'DTSTART') as Property;
  const at = (name: string, wall: number): Property => ({
    ...dtstart,
    name,
    value: formatTime({ ...(timesOf(dtstart)[0] as ReturnType<typeof timesOf>[number]), wall: wall + shift }),
  });
  const uid = `${event.uid}-${formatTime({ kind: start.isDate ? 'date' : 'local', wall: first })}`;
  const excluded = clock
    .recurrence(master as Component, start, times)
    .excluded.map(wallOf)
    .filter((wall) => wall >= first);
  const own = range.properties.filter(({ name }) => !COPIED.has(name));
  return {
    ...event,
    uid,
    master: {
      ...range,
      properties: [
        property('UID', uid),
        ...own,
        ...rules.map((rule) => property('RRULE', formatRule(rule))),
        ...excluded.map((wall) => at('EXDATE', wall)),
      ],
    },
    instances: event.instances
      .filter((instance) => instance !== range && keyWall(event, instance, start, times) >= first)
      .map((instance) => moved(instance, uid, at('RECURRENCE-ID', keyWall(event, instance, start, times)))),
  };
}

function moved(instance: Component, uid: string, id: Property): Component {
  const range = propertiesOf(instance, 'RECURRENCE-ID').flatMap(({ parameters }) =>
    parameters.filter(({ name }) => name === 'RANGE'),
  );
  return {
    ...instance,
    properties: [
      property('UID', uid),
      { ...id, parameters: [...id.parameters, ...range] },
      ...instance.properties.filter(({ name }) => name !== 'UID' && name !== 'RECURRENCE-ID'),
    ],
  };
}

/** The rule of the later part; null where the days or hours that it names do not move with its start. */
function laterRule(rule: Rule, from: number, to: number): Rule | null {
  const days = Math.floor(to / DAY) - Math.floor(from / DAY);
  const hasHours = rule.byHour.length + rule.byMinute.length + rule.bySecond.length > 0;
  // COUNT would need the number of earlier instances; a counted series of this length has its changes stored one by one.
  if (rule.count !== null || (from !== to && hasHours)) return null;
  if (days === 0) return rule;
  const dates = [rule.byMonthDay, rule.byYearDay, rule.byWeekNo, rule.byMonth, rule.bySetPos];
  if (dates.some((list) => list.length > 0) || rule.byDay.some(({ nth }) => nth !== null)) return null;
  const byDay = rule.byDay.map((day) => ({ ...day, weekday: (((day.weekday + days) % 7) + 7) % 7 }));
  return { ...rule, byDay };
}
