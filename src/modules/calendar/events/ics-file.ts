import { createHash } from 'node:crypto';
import {
  CalendarZones,
  type Component,
  formatComponent,
  property,
  propertyOf,
  readCalendar,
  zoneOfName,
} from '../../../lib/icalendar/index.js';
import { compareVersions, type Version } from '../../../lib/itip/index.js';
import { uidText, versionOf as statedVersion } from '../model/vevent-reader.js';
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
  /** Null: the file contains instances of a series only. */
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
  /** Names of the other components. */
  readonly kinds = new Set<string>();
  /** Instances that differ from their series, by UID. */
  private readonly instances = new Map<string, Component[]>();
  private readonly newest = new Map<string, Newest>();

  private constructor(private readonly open: () => Promise<AsyncIterable<Uint8Array>>) {}

  /**
   * @param zone of the calendar that receives the events, for a TZID that says only that its zone has no name
   * @throws ICalendarError; TooManyEventsError
   */
  static async read(open: () => Promise<AsyncIterable<Uint8Array>>, zone: string): Promise<IcsFile> {
    const file = new IcsFile(open);
    const { calendars } = file;
    let count = 0;
    for await (const { item, calendar } of readCalendar(await open())) {
      if (calendars.at(-1) !== calendar) calendars.push(calendar);
      if (item.name !== 'VTIMEZONE') file.kinds.add(item.name);
      if (item.name !== 'VEVENT') continue;
      count += 1;
      if (count > MAX_FILE_EVENTS) throw new TooManyEventsError();
      const uid = nameOf(item);
      if (!isInstance(item)) {
        file.addVersion(uid, { index: count - 1, ...versionOf(item) });
        continue;
      }
      const others = file.instances.get(uid);
      if (others) others.push(item);
      else file.instances.set(uid, [item]);
    }
    file.clocks = calendars.map((calendar) => clockOf(calendar, zone));
    return file;
  }

  /** Each event of the file, then the instances whose series the file lacks. */
  async *events(): AsyncGenerator<FileEvent, void, undefined> {
    const left = new Map(this.instances);
    let last: Component | null = null;
    let calendars = 0;
    let index = -1;
    for await (const { item, calendar } of readCalendar(await this.open())) {
      if (calendar !== last) calendars += 1;
      last = calendar;
      if (item.name !== 'VEVENT') continue;
      index += 1;
      if (isInstance(item)) continue;
      const uid = nameOf(item);
      const isReplaced = this.newest.get(uid)?.index !== index;
      const instances = (isReplaced ? undefined : left.get(uid)) ?? [];
      if (!isReplaced) left.delete(uid);
      yield { index, uid, master: named(item, uid), instances, clock: this.clock(calendars - 1), isReplaced };
    }
    for (const [uid, instances] of left)
      yield { index: (index += 1), uid, master: null, instances, clock: this.clock(0), isReplaced: false };
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

/** Times with an unknown TZID are read in the zone of the calendar (X-WR-TIMEZONE). */
const clockOf = (calendar: Component, zone: string): EventClock =>
  new EventClock(
    new CalendarZones(calendar),
    zoneOfName(propertyOf(calendar, 'X-WR-TIMEZONE')?.value ?? ''),
    zone,
  );

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
