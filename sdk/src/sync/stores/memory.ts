import type { Row } from '../row.js';
import type { Store, StoreTransaction } from '../store.js';
import { Mutex } from './mutex.js';

/** A store that ends with the page or the process: changes that were not sent are lost then. */
export function memoryStore(): Store {
  let rows = new Map<string, Row>();
  let meta = new Map<string, unknown>();
  const mutex = new Mutex();
  return {
    transaction: (mode, work) =>
      mutex.run(async () => {
        const copies = { rows: new Map(rows), meta: new Map(meta) };
        const result = await work(transactionOn(copies.rows, copies.meta));
        if (mode === 'write') ({ rows, meta } = copies);
        return result;
      }),
    close: async () => undefined,
  };
}

function transactionOn(rows: Map<string, Row>, meta: Map<string, unknown>): StoreTransaction {
  const all = () => [...rows.values()];
  const copied = (some: Row[]) => structuredClone(some);
  return {
    get: async (feed, id) => structuredClone(rows.get(keyOf(feed, id))),
    put: async (row) => void rows.set(keyOf(row.feed, row.id), structuredClone(row)),
    delete: async (feed, id) => void rows.delete(keyOf(feed, id)),
    rows: async (feed) =>
      copied(all().filter((row) => row.feed === feed)).sort((a, b) => (a.id < b.id ? -1 : 1)),
    pending: async () =>
      copied(all().filter((row) => row.place !== undefined)).sort((a, b) => a.place! - b.place!),
    readMeta: async (key) => structuredClone(meta.get(key)),
    writeMeta: async (key, value) =>
      void (value === undefined ? meta.delete(key) : meta.set(key, structuredClone(value))),
  };
}

const keyOf = (feed: string, id: string) => `${feed}\n${id}`;
