import { createHash } from 'node:crypto';
import {
  type CalendarItem,
  CalendarZones,
  type Component,
  formatComponent,
  formatTime,
  ICalendarError,
  parameterOf,
  propertiesOf,
  type Property,
  property,
  propertyOf,
  readCalendar,
  storedUid,
  timesOf,
  zoneOfName,
} from '../../../lib/icalendar/index.js';
import { compareVersions, type Version } from '../../../lib/itip/index.js';
import {
  continuedRule,
  DAY,
  formatRule,
  movedRule,
  parseRule,
  type Rule,
} from '../../../lib/recurrence/index.js';
import { laterKeys } from '../model/event-series.js';
import { onClock } from '../model/ics/file-rules.js';
import { PRODUCT } from '../model/ics/product.js';
import { wallOf } from '../model/event-times.js';
import { versionOf as statedVersion, uidText } from '../model/vevent-reader.js';
import type { Start } from '../model/vevent-time-parts.js';
import { EventClock } from '../model/vevent-times.js';

/** Maximum number of VEVENTs in a file. */
const MAX_FILE_EVENTS = 20_000;

/** The file has too many VEVENTs. */
export class TooManyEventsError extends Error {}

/** An event of a file with its instances. */
export interface FileEvent {
  /** Position of the VEVENT in the file. */
  index: number;
  uid: string;
  /** Null means that the file contains instances of a series only. */
  master: Component | null;
  instances: Component[];
  clock: EventClock;
  /** The file has a newer version of the event, or this one again: RFC 5545 has one component without RECURRENCE-ID for each UID. */
  isReplaced: boolean;
}

/** The newest version of the event of a UID, and its position. */
interface Newest extends Version {
  index: number;
}

/**
 * A file with calendars. It is read twice, so that memory holds one event and the changed instances of all series: instances
 * may precede their series, and VTIMEZONEs may follow the events.
 */
export class IcsFile {
  private clocks: EventClock[] = [];
  /** The VCALENDARs with their properties and VTIMEZONEs. */
  readonly calendars: Component[] = [];
  /** Numbers of the other components, by name. */
  readonly kinds = new Map<string, number>();
  /** The file ends inside a component after this number of VEVENTs; null for a whole file. */
  unfinished: { index: number; error: ICalendarError } | null = null;
  /** Instances that differ from their series, by UID, with the position of their VCALENDAR. */
  private readonly instances = new Map<string, { events: Component[]; calendar: number }>();
  private readonly newest = new Map<string, Newest>();

  private constructor(
    private readonly open: () => Promise<AsyncIterable<Uint8Array>>,
    private readonly charset: string | undefined,
  ) {}

  /**
   * @param zone of the calendar that receives the events, for a TZID that says only that its zone has no name
   * @param assumed zone for a TZID that is unknown otherwise; null: an event with it is invalid
   * @param charset that the sender of the file states
   * @throws ICalendarError; TooManyEventsError
   */
  static async read(
    open: () => Promise<AsyncIterable<Uint8Array>>,
    zone: string,
    assumed: string | null = null,
    charset?: string,
  ): Promise<IcsFile> {
    const file = new IcsFile(open, charset);
    const { calendars } = file;
    let count = 0;
    const finish = (error: ICalendarError): void => {
      // Without any event, such as that of a damaged file, there is nothing to read.
      if (count === 0) throw error;
      file.unfinished = { index: count, error };
    };
    for await (const { item, calendar } of file.completeItems(finish)) {
      if (calendars.at(-1) !== calendar) calendars.push(calendar);
      const { kinds } = file;
      if (item.name !== 'VTIMEZONE') kinds.set(item.name, (kinds.get(item.name) ?? 0) + 1);
      if (item.name !== 'VEVENT') continue;
      count += 1;
      if (count > MAX_FILE_EVENTS) throw new TooManyEventsError();
      const uid = nameOf(item);
      if (!isInstance(item)) {
        file.addVersion(uid, { index: count - 1, ...versionOf(item) });
        continue;
      }
      const others = file.instances.get(uid);
      if (others) others.events.push(item);
      else file.instances.set(uid, { events: [named(item, uid)], calendar: calendars.length - 1 });
    }
    file.clocks = calendars.map((calendar) => clockOf(calendar, zone, assumed));
    return file;
  }

  /** Each event of the file, then the instances whose series the file lacks. */
  async *events(): AsyncGenerator<FileEvent, void, undefined> {
    const left = new Map(this.instances);
    let last: Component | null = null;
    let calendars = 0;
    let index = -1;
    for await (const { item, calendar } of this.completeItems(() => {})) {
      if (calendar !== last) calendars += 1;
      last = calendar;
      if (item.name !== 'VEVENT') continue;
      index += 1;
      if (isInstance(item)) continue;
      const uid = nameOf(item);
      const isReplaced = this.newest.get(uid)?.index !== index;
      const instances = (isReplaced ? undefined : left.get(uid)?.events) ?? [];
      if (!isReplaced) left.delete(uid);
      yield { index, uid, master: named(item, uid), instances, clock: this.clock(calendars - 1), isReplaced };
    }
    for (const [uid, { events: instances, calendar }] of left)
      yield {
        index: (index += 1),
        uid,
        master: null,
        instances,
        clock: this.clock(calendar),
        isReplaced: false,
      };
    // Instances without their series come last, so the place of the component that the file cuts is known only here.
    if (this.unfinished) this.unfinished.index = index + 1;
  }

  /** The components of the file that are complete. @param finish is called if the file ends inside another one */
  private async *completeItems(
    finish: (error: ICalendarError) => void,
  ): AsyncGenerator<CalendarItem, void, undefined> {
    try {
      yield* readCalendar(await this.open(), this.charset);
    } catch (error) {
      if (!(error instanceof ICalendarError) || error.code !== 'truncated') throw error;
      finish(error);
    }
  }

  private addVersion(uid: string, version: Newest): void {
    const known = this.newest.get(uid);
    if (!known || compareVersions(version, known) !== 'older') this.newest.set(uid, version);
  }

  private clock(at: number): EventClock {
    return this.clocks[at] as EventClock;
  }
}

const versionOf = (event: Component): Version => {
  const { sequence, dtstamp } = statedVersion(event);
  return { sequence, dtstamp: new Date(dtstamp).getTime() / 1_000 };
};

const isInstance = (event: Component): boolean => propertyOf(event, 'RECURRENCE-ID') !== undefined;

/** The UID. For an event without UID: a digest of its text, so that a repeated import finds the event. */
function nameOf(event: Component): string {
  return uidText(event) || createHash('sha256').update(formatComponent(event)).digest('hex');
}

const named = (event: Component, uid: string): Component =>
  uidText(event)
    ? event
    : {
        ...event,
        properties: [property('UID', uid), ...event.properties.filter(({ name }) => name !== 'UID')],
      };

/**
 * Times with an unknown TZID, and those without a zone, are read in the zone that the file states for its calendar (X-WR-TIMEZONE). Our own files
 * state it too; their times without a zone have none.
 */
function clockOf(calendar: Component, zone: string, assumed: string | null): EventClock {
  const stated = zoneOfName(propertyOf(calendar, 'X-WR-TIMEZONE')?.value ?? '');
  const isOwn = propertyOf(calendar, 'PRODID')?.value.trim() === PRODUCT;
  return new EventClock(new CalendarZones(calendar), stated ?? assumed, zone, isOwn ? null : stated);
}

export const MAX_FILE_BYTES = 10 * 1024 * 1024;

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
    const key = clock.keyOf(id, start, times, range);
    const series = { ...times, ...recurrence };
    if (key === null || laterKeys({ ...series, overrides: [] }, key).length <= MAX_CHANGED) continue;
    const first = wallOf(key);
    const later = clock.start(range);
    const rules = recurrence.rules.map((text) => laterRule(parseRule(text), start, first, later));
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
  const key = id && clock.keyOf(id, start, times, instance);
  return key ? wallOf(key) : Number.NEGATIVE_INFINITY;
};

const before = (event: FileEvent, first: number, start: Start, times: Times): Component[] =>
  event.instances.filter((instance) => keyWall(event, instance, start, times) < first);

function earlierPart(master: Component, first: number, start: Start): Component {
  const kind = start.isDate ? 'date' : 'wall';
  const until = { kind, time: first - (start.isDate ? DAY : 1) } as const;
  const ended = (text: string): Rule => {
    const rule = parseRule(text);
    const end = onClock(rule, start).until;
    const last = end && end.time + (end.kind === 'date' && !start.isDate ? DAY - 1 : 0);
    // A rule that ends earlier keeps its end.
    return last !== null && last < until.time ? rule : { ...rule, count: null, until };
  };
  return {
    ...master,
    properties: master.properties.map((each) =>
      each.name === 'RRULE' ? property('RRULE', formatRule(ended(each.value))) : each,
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
  const own = `${event.uid}-${formatTime({ kind: start.isDate ? 'date' : 'local', wall: first })}`;
  const uid = storedUid(own);
  const excluded = clock
    .recurrence(master as Component, start, times)
    .excluded.map(wallOf)
    .filter((wall) => wall >= first);
  const others = range.properties.filter(({ name }) => !COPIED.has(name));
  return {
    ...event,
    uid,
    master: {
      ...range,
      properties: [
        property('UID', uid),
        ...others,
        ...rules.map((rule) => property('RRULE', formatRule(rule))),
        ...excluded.map((wall) => at('EXDATE', wall)),
      ],
    },
    instances: event.instances
      .filter((instance) => instance !== range && keyWall(event, instance, start, times) >= first)
      .map((instance) =>
        moveInstance(instance, uid, at('RECURRENCE-ID', keyWall(event, instance, start, times))),
      ),
  };
}

function moveInstance(instance: Component, uid: string, id: Property): Component {
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

/** The rule of the later part; null where the periods, days or hours that it names do not move with its start. */
function laterRule(rule: Rule, { wall, isDate, zone }: Start, first: number, later: Start): Rule | null {
  // COUNT would need the number of earlier instances; a counted series of this length has its changes stored one by one.
  const continued = rule.count === null ? continuedRule(rule, { start: wall, isDate }, first) : null;
  return (
    continued &&
    movedRule(
      continued,
      { start: first, zone, isDate },
      { start: later.wall, zone: later.zone, isDate: later.isDate },
    )
  );
}
