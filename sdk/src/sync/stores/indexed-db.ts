import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import type { Row } from '../rows/row.js';
import { type Store, StoreFullError, type StoreTransaction } from '../store.js';

const VERSION = 1;

interface Schema extends DBSchema {
  rows: { key: [string, string]; value: Row; indexes: { place: number } };
  meta: { key: string; value: unknown };
}

/**
 * A store in IndexedDB, for all tabs of an origin. Ask for `navigator.storage.persist()`: browsers delete other stores when the disk is
 * full, with the changes in them that were not sent.
 * @param name of the database; another one for each user
 * @throws StoreFullError if there is no space for a new database
 */
export async function indexedDbStore(name: string): Promise<Store> {
  const database: IDBPDatabase<Schema> = await openDB<Schema>(name, VERSION, {
    upgrade(fresh) {
      const rows = fresh.createObjectStore('rows', { keyPath: ['feed', 'id'] });
      // Rows without a place are not in the index.
      rows.createIndex('place', 'place');
      fresh.createObjectStore('meta');
    },
    // A later version of the application, in another tab, may change the database.
    blocking: () => database.close(),
  }).catch((error: unknown) => {
    throw isFull(error) ? new StoreFullError(error) : error;
  });
  return {
    shared: name,
    transaction: (mode, work) =>
      mode === 'read' ? work(readingFrom(database)) : writingTo(database, mode === 'write', work),
    close: async () => database.close(),
  };
}

type Access = IDBPTransaction<Schema, ['rows', 'meta'], 'readonly' | 'readwrite'>;

const readingFrom = (database: IDBPDatabase<Schema>): StoreTransaction =>
  transactionOn(database.transaction(['rows', 'meta'], 'readonly'));

async function writingTo<T>(
  database: IDBPDatabase<Schema>,
  isStrict: boolean,
  work: (tx: StoreTransaction) => Promise<T>,
): Promise<T> {
  // By default some browsers report the end before the data is on the disk.
  const durability = isStrict ? 'strict' : 'relaxed';
  const access = database.transaction(['rows', 'meta'], 'readwrite', { durability });
  // Awaited below: a transaction that fails while work is under way must not be reported as unhandled.
  const end = access.done.then(
    () => undefined,
    (error: unknown) => ({ error: error ?? access.error }),
  );
  let result: T;
  try {
    result = await work(transactionOn(access));
  } catch (error) {
    abort(access);
    await end;
    throw isFull(error) ? new StoreFullError(error) : error;
  }
  const failure = await end;
  if (failure) throw isFull(failure.error) ? new StoreFullError(failure.error) : failure.error;
  return result;
}

/** A failed request has aborted its transaction already. */
function abort(access: Access): void {
  try {
    access.abort();
  } catch {
    // It has ended.
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'QuotaExceededError';

function transactionOn(access: Access): StoreTransaction {
  const writable = access as IDBPTransaction<Schema, ['rows', 'meta'], 'readwrite'>;
  const rows = () => writable.objectStore('rows');
  const meta = () => writable.objectStore('meta');
  return {
    get: (feed, id) => rows().get([feed, id]),
    put: async (row) => void (await rows().put(row)),
    delete: (feed, id) => rows().delete([feed, id]),
    // An array is greater than each text, so these are all greater ids.
    rows: (feed, after, limit) => rows().getAll(IDBKeyRange.bound([feed, after], [feed, []], true), limit),
    pending: (after, limit) => rows().index('place').getAll(IDBKeyRange.lowerBound(after, true), limit),
    readMeta: (key) => meta().get(key),
    writeMeta: async (key, value) => {
      if (value === undefined) await meta().delete(key);
      else await meta().put(value, key);
    },
  };
}
