import {
  type Component,
  component,
  formatTime,
  listedTexts,
  parseTime,
  propertiesOf,
  property,
  type Property,
  timesOf,
  type TimeValue,
} from '../../../lib/icalendar/index.js';
import {
  DAY,
  formatDay,
  formatWallTime,
  type Instance,
  lastInstance,
  nextInstance,
  type Series,
  Zone,
} from '../../../lib/recurrence/index.js';
import { dueWallOf, instantMover, movedAlarm } from './fixed-alarms.js';
import { boundWall } from './rules/task-times.js';
import { canonicalRule, placeIn, type SeriesPlace } from './task-recurrence.js';
import {
  clockFor,
  dueDay,
  hasTooManyDates,
  InstanceMap,
  readableMoments,
  type SeriesClock,
  type SeriesDates,
  seriesOf,
} from './todo-instances.js';
import {
  dueOf,
  firstOf,
  isInstance,
  type KeptTodo,
  momentOf,
  readable,
  type TodoClock,
  wallOf,
} from './todo-values.js';

/** Properties that state which instances a series has. */
export const SERIES_NAMES = ['RRULE', 'RDATE', 'EXDATE'];

/** A task as it is on the day of its first open instance. */
export interface CurrentTodo {
  /** The VTODO with the times of this instance. */
  todo: Component;
  /** The rule from this instance on, in canonical form; null for a task that does not repeat. */
  rrule: string | null;
  place: SeriesPlace | null;
  /** How the series ended, where all instances are closed. */
  end: 'done' | 'cancelled' | null;
}

/** The first open instance of a task: excluded, completed and cancelled ones are passed over. @throws ICalendarError */
export function currentOf(todo: Component, others: readonly Component[], clock: TodoClock): CurrentTodo {
  const due = dueOf(todo, clock);
  const rrule = due && ruleOf(todo);
  const single: CurrentTodo = { todo, rrule, place: null, end: null };
  if (!due || rrule === null) return single;
  const read = hasTooManyDates(todo, others) ? null : seriesOf(todo, others, clock);
  if (!read) return { ...single, rrule: null };
  const { first, byRules, dates } = read;
  const { excluded, closed, added } = dates;
  const before = Math.min(byRules.start, ...added) - 2 * DAY;
  const open = nextInstance({ ...byRules, added, excluded: InstanceMap.union(excluded, closed) }, before);
  const found = open ?? lastClosed({ ...byRules, added, excluded: InstanceMap.union(excluded) }, dates);
  if (!found) return single;
  const instant = byRules.isDate ? byRules.start : first.instant;
  const at = ({ key, start }: Instance): Component => shiftedTodo(todo, key - byRules.start, start - instant);
  const nominal = at(found);
  const override = dates.open.get(found);
  const moved = override && movedTo(nominal, override);
  const isFirst = found.key === byRules.start && !moved;
  const anchor = nextInstance(byRules, found.start - 1) ?? found;
  const current = moved ?? nominal;
  return {
    todo: component(current.name, current.properties, alarmsAt(todo, current, clock)),
    rrule: remaining(rrule, byRules, anchor),
    place: isFirst ? null : placeAt(dueText(at(anchor), clock), dueText(nominal, clock)),
    end: open ? null : closed.values.includes(true) ? 'done' : 'cancelled',
  };
}

/** The alarms of a series at the times of one of its instances: Apple writes the moment at which the first one rings. */
function alarmsAt(series: Component, current: Component, clock: TodoClock): Component[] {
  const move = instantMover(dueWallOf(series, clock), dueWallOf(current, clock), clock.zone);
  return series.components.map((alarm) => movedAlarm(alarm, move, clock));
}

/** @param start of the rule @param scheduled of the instance, both as `dueText` returns them */
const placeAt = (start: string, scheduled: string): SeriesPlace => ({
  start,
  scheduled: scheduled.slice(0, 10),
  ...(scheduled.slice(10) !== start.slice(10) && { hour: scheduled.slice(10) }),
});

/** Null also for a task with several rules. */
function ruleOf(todo: Component): string | null {
  const [rule, ...more] = propertiesOf(todo, 'RRULE');
  return rule && more.length === 0 ? canonicalRule(rule.value) : null;
}

/** The last instance of a series whose instances are all closed. */
function lastClosed(series: Series, { closed }: SeriesDates): Instance | null {
  const last = closed.values.length === 0 ? null : lastInstance(series);
  return last === 'endless' ? null : last;
}

/** The rule with the number of instances from one of them on. */
function remaining(rrule: string, byRules: Series, from: Instance): string {
  const count = byRules.rules[0]?.count ?? null;
  if (count === null) return rrule;
  const number = placeIn(byRules, from.start, count);
  return rrule.replace(/COUNT=\d+/, `COUNT=${Math.max(1, count - number + 1)}`);
}

/** The due date as a task stores the start of its series. */
function dueText(todo: Component, clock: TodoClock): string {
  const due = dueOf(todo, clock);
  if (!due) return '';
  return due.isDate ? formatDay(Math.floor(due.wall / DAY)) : formatWallTime(wallOf(due, clock));
}

const TIMES: ReadonlySet<string> = new Set(['DTSTART', 'DUE']);
const LENGTHS: ReadonlySet<string> = new Set([...TIMES, 'DURATION']);

/** A VTODO at another time. @param wall seconds by which local times and days move @param exact those by which times in UTC move */
export function shiftedTodo(
  { name, properties, components }: Component,
  wall: number,
  exact: number,
): Component {
  const shifted = properties.map((given) =>
    TIMES.has(given.name) ? shiftedTime(given, wall, exact) : given,
  );
  return component(name, shifted, components);
}

function shiftedTime(given: Property, wall: number, exact: number): Property {
  const [time] = timesOf(firstOf(given));
  return time ? { ...given, value: timeAfter(time, time.kind === 'utc' ? exact : wall) } : given;
}

/** A time that is moved, in the years that a task can have. @param by in seconds */
const timeAfter = (time: TimeValue, by: number): string =>
  formatTime({ ...time, wall: boundWall(time.wall + by) });

/** The clock of a series before and after a change of its task. */
export interface HourChange {
  /** Zones of the task. */
  from: string;
  to: string;
  /** Seconds by which local times move, from the clock of the one zone to that of the other. */
  wall: number;
  /** Days by which the first occurrence moves. */
  days: number;
  /** Seconds by which the first occurrence moves. */
  exact: number;
}

/** The instant of a moved time. @param instant of the time that it had */
const instantAfter = (instant: number, { from, to, wall }: HourChange): number =>
  Zone.of(to).toInstant(Zone.of(from).toWall(instant) + wall);

/** A rule with the same instances at their new hour: its end moves with them. */
export const withEndAfter = (rrule: string, change: HourChange): string =>
  rrule.replace(/(?<=UNTIL=)[^;]+/, (text) => {
    const time = parseTime(text, 'UNTIL');
    if (time.kind === 'utc') return timeAfter(time, instantAfter(time.wall, change) - time.wall);
    return timeAfter(time, time.kind === 'date' ? change.days * DAY : change.wall);
  });

/**
 * What programs stored of a series whose time of day or zone has changed: its own times, and those that name or add instances. Each is at
 * the new time of the day that it had on the former clock. A series in UTC has one distance for all of them.
 * @param clock of the series before the change
 */
export function keptAtHour(kept: KeptTodo, change: HourChange, clock: SeriesClock): KeptTodo {
  const { from, to, wall, exact } = change;
  const { hour, ahead } = clock;
  // Days move with the start of the series.
  const days = Math.floor((ahead === null ? hour + wall : hour - ahead + exact) / DAY);
  return retimed(
    kept,
    (given, time) => {
      if (time.kind === 'date') return days * DAY;
      if (ahead !== null && time.kind === 'utc') return exact;
      const moment = readable(() => momentOf(given, clock));
      if (!moment) return 0;
      const zone = moment.zone ?? from;
      if (!moment.isUtc && zone === from) return wall;
      const instant = instantAfter(moment.instant, change);
      const moved = moment.isUtc ? instant : Zone.of(from === to ? zone : to).toWall(instant);
      return moved - time.wall;
    },
    from === to ? undefined : to,
  );
}

/**
 * What programs stored of a series whose start in UTC has moved by whole days and these seconds: a clock change. Added dates are moments of
 * their own, and so are the names of their instances.
 */
export function withNamesMoved(kept: KeptTodo, seconds: number, clock: TodoClock): KeptTodo {
  if (seconds === 0) return kept;
  const added = propertiesOf(component('VTODO', kept.properties['RDATE'] ?? []), 'RDATE');
  const own = new Set(added.flatMap((given) => readableMoments(given, clock)).map(({ instant }) => instant));
  return retimed(kept, ({ name }, { kind, wall }) =>
    kind === 'utc' && (name === 'EXDATE' || name === 'RECURRENCE-ID') && !own.has(wall) ? seconds : 0,
  );
}

/**
 * Values that cannot be read stay.
 * @param shiftOf seconds by which a time of a property moves
 * @param zone of the new times that name one; otherwise it stays
 */
function retimed(
  kept: KeptTodo,
  shiftOf: (given: Property, time: TimeValue) => number,
  zone?: string,
): KeptTodo {
  const moved = (given: Property, text: string): string => {
    const single = { ...given, value: text };
    const [time] = readable(() => timesOf(single)) ?? [];
    const shift = time ? shiftOf(single, time) : 0;
    return time && shift !== 0 ? timeAfter(time, shift) : text;
  };
  const zoned = (parameter: Property['parameters'][number]) =>
    zone !== undefined && parameter.name === 'TZID' ? { ...parameter, values: [zone] } : parameter;
  return withTimes(kept, (given) => ({
    ...given,
    parameters: given.parameters.map(zoned),
    // The end of a period moves with its start; a length is no time.
    value: listedTexts(given)
      .map((each) => each.replaceAll(/[^/]+/g, (text) => moved(given, text)))
      .join(','),
  }));
}

/**
 * What programs stored of a series of times that becomes one of days, or the other way around: each date, and each name of an instance, is
 * the day on which it is due. The series starts anew, with the date and the rule of the task.
 * @param clock of the series before the change
 */
export function keptByDay(kept: KeptTodo, clock: SeriesClock, length: number): KeptTodo {
  const { properties, ...rest } = kept;
  const dates = Object.entries(properties).filter(([name]) => !LENGTHS.has(name) && name !== 'RRULE');
  return withTimes({ ...rest, properties: Object.fromEntries(dates) }, (given) => {
    const onClock = clockFor(given.name, clock);
    const days = readableMoments(given, clock).map((moment) => dueDay(moment, onClock, length));
    if (days.length === 0) return given;
    const value = [...new Set(days)].map((day) => formatTime({ kind: 'date', wall: day * DAY })).join(',');
    const { parameters } = property(given.name, value, { VALUE: 'DATE' });
    const others = given.parameters.filter(({ name }) => name !== 'VALUE' && name !== 'TZID');
    return { ...given, parameters: [...parameters, ...others], value };
  });
}

const NAMED: ReadonlySet<string> = new Set([...TIMES, 'EXDATE', 'RDATE', 'RECURRENCE-ID']);

/** With other times of a series, and other names of its changed instances. */
function withTimes(kept: KeptTodo, change: (given: Property) => Property): KeptTodo {
  const { properties, others } = kept;
  const changed = (all: readonly Property[], isTime: (name: string) => boolean): Property[] =>
    all.map((given) => (isTime(given.name) ? change(given) : given));
  return {
    ...kept,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, all]) => [name, changed(all, (each) => NAMED.has(each))]),
    ),
    others: others.map((other) =>
      isInstance(other)
        ? component(
            other.name,
            changed(other.properties, (each) => each === 'RECURRENCE-ID'),
            other.components,
          )
        : other,
    ),
  };
}

/** An instance at the times of its override; null for an override without a due date. */
function movedTo({ name, properties, components }: Component, override: Component): Component | null {
  const times = override.properties.filter((given) => LENGTHS.has(given.name));
  if (!times.some((given) => given.name !== 'DTSTART')) return null;
  return component(name, [...properties.filter((given) => !LENGTHS.has(given.name)), ...times], components);
}
