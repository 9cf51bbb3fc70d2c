import type { EventRecord } from '../model/event-record.js';
import { stampOf } from '../model/vevent-reader.js';
import type { FileEvent } from './ics-file.js';

/**
 * When an event of a file was changed last: LAST-MODIFIED, without it DTSTAMP, which in exports of some programs is the time of the export
 * (RFC 5545, 3.8.7.2). RFC 3339; null without a usable time.
 */
export function changedAt({ master, instances }: FileEvent): string | null {
  const given = [...(master ? [master] : []), ...instances].flatMap(
    (event) => stampOf(event, 'LAST-MODIFIED') ?? stampOf(event) ?? [],
  );
  return given.length === 0 ? null : new Date(latest(given)).toISOString();
}

/**
 * Whether an event of a file is older than the last change of the stored event. SEQUENCE counts the revisions of one program, so the numbers
 * of two programs do not say which revision is later. An event without times is not older.
 */
export function isOlder(event: FileEvent, stored: EventRecord): boolean {
  const changed = changedAt(event);
  return changed !== null && seconds(Date.parse(changed)) < seconds(latest(stampsOf(stored)));
}

/** The DTSTAMP of a stored event that an import changes: that of the file, so that the next version of the file is compared with it. */
export const importedStamp = (event: FileEvent, stored: EventRecord, now: string): string => {
  const changed = Date.parse(changedAt(event) ?? now);
  return new Date(Math.max(Math.min(changed, Date.parse(now)), latest(stampsOf(stored)))).toISOString();
};

const stampsOf = ({ dtstamp, overrides }: EventRecord): string[] => [
  dtstamp,
  ...overrides.map((override) => override.dtstamp),
];

const latest = (stamps: readonly string[]): number =>
  stamps.reduce((last, stamp) => Math.max(last, Date.parse(stamp)), 0);

/** The precision of iCalendar. */
const seconds = (time: number): number => Math.floor(time / 1_000);
