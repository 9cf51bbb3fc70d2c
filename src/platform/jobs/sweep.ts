import type { Db } from '../database/db.js';
import type { Statement } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** A statement that processes at most `$1` due rows and returns their number. */
export type Sweep = Statement<{ count: number }>;

/** The text of a {@link Sweep} that deletes rows. A row that another transaction renews meanwhile stays. */
export const deletion = (table: string, condition: string): string =>
  `WITH removed AS (
     DELETE FROM ${table}
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT $1)) AND ${condition} RETURNING 1)
   SELECT count(*)::int AS count FROM removed`;

/**
 * Repeats the work until a batch is smaller than `size`.
 * @param work processes one batch, which commits by itself, so that no transaction takes long; returns the number of its rows
 * @returns the number of rows of all batches
 */
export async function inBatches(size: number, work: () => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const count = await work();
    total += count;
    if (count < size) return total;
  }
}

/**
 * Runs a sweep until no row is due.
 * @param batch rows per batch
 * @param prepare runs in the transaction of each batch, e.g. to wake the worker of the outbox after its commit
 * @param values further parameters of the statement
 * @returns the number of processed rows
 */
export async function sweep(
  db: Db,
  statement: Sweep,
  batch: number,
  prepare: (tx: Tx) => void = () => undefined,
  values: readonly unknown[] = [],
): Promise<number> {
  return inBatches(batch, () =>
    db.single(async (tx) => {
      prepare(tx);
      const rows = await tx.query(statement, [batch, ...values]);
      return rows.reduce((sum, row) => sum + row.count, 0);
    }),
  );
}
