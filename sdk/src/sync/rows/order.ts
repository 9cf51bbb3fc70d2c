import { COLLECTIONS, type CollectionName, feedOf, partsOf } from '../collections.js';
import type { Row } from './row.js';
import type { StoreTransaction } from '../store.js';

/** Collections whose objects other objects name by their ids. */
const NAMED: readonly CollectionName[] = ['note_folders', 'notes', 'task_folders', 'tasks', 'calendars'];
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @returns the id of an object that the next request of a row names and that the service does not have yet, such as the folder of a note */
export async function missingOf(tx: StoreTransaction, row: Row): Promise<string | undefined> {
  const { name, scope } = partsOf(row.feed);
  const { container } = COLLECTIONS[name];
  if (container && scope !== undefined && (await isUncreated(tx, container, scope))) return scope;
  for (const id of new Set(idsIn((row.sent?.change ?? row.open)?.fields)))
    if (id !== row.id && (await isMissing(tx, row.feed, id))) return id;
  return undefined;
}

async function isMissing(tx: StoreTransaction, feed: string, id: string): Promise<boolean> {
  for (const one of new Set([feed, ...NAMED.map((name) => feedOf(name))]))
    if (await isUncreated(tx, one, id)) return true;
  return false;
}

async function isUncreated(tx: StoreTransaction, feed: string, id: string): Promise<boolean> {
  const row = await tx.get(feed, id);
  return row?.open?.create === true || (row?.sent?.change.create === true && !row.sent.done);
}

/** The ids in the fields of an object. */
export function* idsIn(value: unknown): Generator<string> {
  if (typeof value === 'string' && UUID.test(value)) yield value;
  if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) yield* idsIn(one);
}
