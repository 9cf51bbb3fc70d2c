import type { Row } from '../rows/row.js';
import type { Store, StoreTransaction } from '../store.js';
import { copyOf } from '../copy-of.js';
import { Mutex } from './mutex.js';

/** A store that ends with the page or the process: changes that were not sent are lost then. */
export function memoryStore(): Store {
  const tables: Tables = { rows: new Map(), meta: new Map() };
  const mutex = new Mutex();
  return {
    transaction: (_mode, work) =>
      mutex.run(async () => {
        const undo: (() => void)[] = [];
        try {
          return await work(transactionOn(tables, undo));
        } catch (error) {
          for (let step = undo.pop(); step; step = undo.pop()) step();
          throw error;
        }
      }),
    close: async () => undefined,
  };
}

interface Tables {
  /** By feed, then by id. */
  rows: Map<string, Map<string, Row>>;
  meta: Map<string, unknown>;
}

function transactionOn({ rows, meta }: Tables, undo: (() => void)[]): StoreTransaction {
  const set = <Value>(map: Map<string, Value>, key: string, value: Value | undefined): void => {
    const before = map.get(key);
    undo.push(() => assign(map, key, before));
    assign(map, key, copyOf(value));
  };
  const tableOf = (feed: string) => {
    const table = rows.get(feed) ?? new Map<string, Row>();
    rows.set(feed, table);
    return table;
  };
  // The order of the last read, until the next write: rows are read in pages.
  let sorted: { name: string | undefined; rows: Row[] } | undefined;
  const inOrder = (feed: string | undefined): Row[] => {
    if (sorted && sorted.name === feed) return sorted.rows;
    const found = feed === undefined ? byPlace(rows) : [...tableOf(feed).values()].sort(compareIds);
    sorted = { name: feed, rows: found };
    return found;
  };
  const write = (feed: string, id: string, row: Row | undefined): void => {
    set(tableOf(feed), id, row);
    sorted = undefined;
  };
  return {
    get: async (feed, id) => copyOf(rows.get(feed)?.get(id)),
    put: async (row) => write(row.feed, row.id, row),
    delete: async (feed, id) => write(feed, id, undefined),
    rows: async (feed, after, limit) => page(inOrder(feed), (row) => row.id > after, limit),
    pending: async (after, limit) => page(inOrder(undefined), (row) => row.place! > after, limit),
    readMeta: async (key) => copyOf(meta.get(key)),
    writeMeta: async (key, value) => set(meta, key, value),
  };
}

function assign<Value>(map: Map<string, Value>, key: string, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

function page(rows: readonly Row[], isAfter: (row: Row) => boolean, limit: number): Row[] {
  const first = rows.findIndex(isAfter);
  return first === -1 ? [] : copyOf(rows.slice(first, first + limit));
}

const byPlace = (rows: Tables['rows']): Row[] =>
  [...rows.values()]
    .flatMap((table) => [...table.values()].filter(({ place }) => place !== undefined))
    .sort((one, other) => one.place! - other.place!);

const compareIds = (one: Row, other: Row): number => (one.id < other.id ? -1 : 1);
