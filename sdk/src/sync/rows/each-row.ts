import type { Row } from './row.js';
import type { StoreTransaction } from '../store.js';

/** Rows that are in memory at the same time. */
const PAGE = 200;

/** All rows of a feed, by id. They may be changed and deleted meanwhile. */
export function eachRow(tx: StoreTransaction, feed: string): AsyncGenerator<Row> {
  return pages(
    '',
    (after: string) => tx.rows(feed, after, PAGE),
    ({ id }) => id,
  );
}

/** All rows with a place greater than `first`, by place. They may be changed and deleted meanwhile. */
export function eachPending(tx: StoreTransaction, first = 0): AsyncGenerator<Row> {
  return pages(
    first,
    (after: number) => tx.pending(after, PAGE),
    ({ place }) => place!,
  );
}

async function* pages<Key>(
  first: Key,
  read: (after: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row> {
  for (let after = first; ;) {
    const rows = await read(after);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = keyOf(last);
  }
}
