import { createHash } from 'node:crypto';
import { type Component, propertyOf } from '../../../lib/icalendar/index.js';
import { isOrphaned } from '../model/dependent-properties.js';
import type { EventRecord, ImportedVersion } from '../model/event-record.js';
import { instanceAt } from '../model/event-series.js';
import { MAX_OVERRIDES, stampOf, startOf } from '../model/vevent-reader.js';
import type { FileEvent } from './ics-file.js';
import { IMPORTED, patchesOf, withInstances } from './imported-event.js';

/** Maximum number of digests of an event: of the series and its instances. */
const MAX_PARTS = MAX_OVERRIDES + 1;
/** Characters of a digest: 96 bits. */
const DIGEST_LENGTH = 16;

/** Properties that an export may change without a change of the event. */
const VOLATILE: ReadonlySet<string> = new Set(['DTSTAMP', 'LAST-MODIFIED', 'SEQUENCE']);

/**
 * Decides what an import takes from a file. An event without edits since its last import takes the whole file. An edited event takes the
 * components (the series with all instances, or single instances) that differ from the last imported file and whose LAST-MODIFIED, or else
 * DTSTAMP, is not before the edit. Two programs count SEQUENCE independently, so the import does not compare it.
 * @param whole the stored event with all values of the file
 * @returns the event to store; null when the import keeps the stored event
 */
export function takeNewer(event: FileEvent, stored: EventRecord, whole: EventRecord): EventRecord | null {
  if (isUntouched(stored)) return whole;
  const known = new Set(stored.imported?.parts);
  const isLater = (part: Component, edited: string): boolean => {
    const changed = changedAt(part);
    return changed !== null && seconds(changed) >= seconds(edited) && !known.has(digestOfPart(part));
  };
  const { master } = event;
  const edited = lastEdit(stored);
  if (isOrphaned(stored)) return partsOf(event).every((part) => isLater(part, edited)) ? whole : null;
  if (master && isLater(master, edited)) return whole;
  const editOf = editsOfInstances(event, stored);
  const later = instancesOf(event).filter((instance) => {
    const edit = editOf(instance);
    return edit !== null && isLater(instance, edit);
  });
  return later.length === 0 ? null : withInstances(stored, { ...event, instances: later });
}

/**
 * What to remember of an import.
 * @param after the event after the import
 * @param isWhole the event has all that the file states
 */
export function importedVersion(
  event: FileEvent,
  before: EventRecord | null,
  after: EventRecord,
  isWhole: boolean,
): ImportedVersion {
  const parts = partsOf(event).map(digestOfPart);
  const known = before?.imported ?? { parts: [], stored: '' };
  // A file of instances says nothing about the others.
  const hasAll = before === null || event.master !== null || isOrphaned(after);
  return {
    parts: hasAll ? parts : [...new Set([...known.parts, ...parts])].slice(-MAX_PARTS),
    stored: isWhole && (hasAll || (before && isUntouched(before))) ? digestOfStored(after) : known.stored,
  };
}

/** Stamps of a file are never later than its import: a later edit is later. */
export const withPastStamps = (record: EventRecord, now: string): EventRecord => ({
  ...record,
  dtstamp: earlier(record.dtstamp, now),
  overrides: record.overrides.map((row) => ({ ...row, dtstamp: earlier(row.dtstamp, now) })),
});

/** Whether the event is as the last import left it. */
const isUntouched = (stored: EventRecord): boolean =>
  stored.imported !== undefined &&
  stored.imported !== null &&
  stored.imported.stored === digestOfStored(stored);

const partsOf = (event: FileEvent): Component[] => [
  ...(event.master ? [event.master] : []),
  ...instancesOf(event),
];

/** As many as are read. */
const instancesOf = ({ instances }: FileEvent): Component[] => instances.slice(0, MAX_OVERRIDES);

/** RFC 3339; null without a usable time. */
const changedAt = (part: Component): string | null => stampOf(part, 'LAST-MODIFIED') ?? stampOf(part);

const lastEdit = ({ dtstamp, overrides }: EventRecord): string =>
  overrides.reduce(
    (last, override) => (Date.parse(override.dtstamp) > Date.parse(last) ? override.dtstamp : last),
    dtstamp,
  );

/**
 * The last edits of the instances of a file. One that does not differ from its series was edited with the series; null for one that the
 * series does not have, since the series was moved here, or the instance deleted.
 */
function editsOfInstances({ clock }: FileEvent, stored: EventRecord): (instance: Component) => string | null {
  const start = startOf(stored);
  const edits = new Map(stored.overrides.map(({ recurrence_key: key, dtstamp }) => [key, dtstamp]));
  return (instance) => {
    const id = propertyOf(instance, 'RECURRENCE-ID');
    const key = id && clock.keyOf(id, start, stored, instance);
    if (!key) return null;
    return edits.get(key) ?? (instanceAt(stored, key) ? stored.dtstamp : null);
  };
}

const digestOfPart = ({ name, properties, components }: Component): string =>
  digest([name, properties.filter((each) => !VOLATILE.has(each.name)), components]);

/** The digest of the values that an import changes. */
const digestOfStored = (record: EventRecord): string =>
  digest([IMPORTED.map((name) => record[name]), patchesOf(record.overrides)]);

/** PostgreSQL orders the members of objects anew, and leaves out those without a value. */
const digest = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(ordered(value)))
    .digest('base64url')
    .slice(0, DIGEST_LENGTH);

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, ordered(each)]));
}

const earlier = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? a : b);

/** The precision of iCalendar. */
const seconds = (time: string): number => Math.floor(Date.parse(time) / 1_000);
