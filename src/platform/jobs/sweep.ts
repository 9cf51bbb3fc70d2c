import type { Db } from '../database/db.js';
import type { Statement } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** A statement that processes at most `$1` due rows and returns their number. */
export type Sweep = Statement<{ count: number }>;

/**
 * Runs a sweep until no row is due. Each batch commits by itself, so that no transaction takes long.
 * @param batch rows per batch
 * @param prepare runs in the transaction of each batch, e.g. to wake the worker of the outbox after its commit
 * @returns the number of processed rows
 */
export async function sweep(
  db: Db,
  statement: Sweep,
  batch: number,
  prepare: (tx: Tx) => void = () => undefined,
): Promise<number> {
  for (let total = 0; ;) {
    const count = await db.single(async (tx) => {
      prepare(tx);
      const rows = await tx.query(statement, [batch]);
      return rows.reduce((sum, row) => sum + row.count, 0);
    });
    total += count;
    if (count < batch) return total;
  }
}
