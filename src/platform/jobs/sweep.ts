import type { Logger } from '@nestjs/common';
import type { Db } from '../database/db.js';
import type { Statement } from '../database/statement.js';
import type { Tx } from '../database/tx.js';

/** After more failures in one run, the items are not the cause. */
const MAX_FAILURES = 20;

/** Collects the failures of single items of a job, so that the other items are processed. */
export class ItemFailures {
  private readonly errors: unknown[] = [];

  /** @param workName the work of an item, for the log */
  constructor(
    private readonly logger: Logger,
    private readonly workName: string,
  ) {}

  /**
   * Runs the work of one item, and logs its failure.
   * @param item its ids, for the log
   * @returns false for a failure
   * @throws the error of the work, after 20 failures of other items
   */
  async guard(item: object, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.errors.push(error);
      if (this.errors.length > MAX_FAILURES) throw error;
      this.logger.warn({ err: error, ...item }, `${this.workName} failed; a later run repeats it`);
      return false;
    }
  }

  /** Call it after the last item. @throws AggregateError when items failed, so that the state of the job shows it */
  report(): void {
    const { errors } = this;
    if (errors.length > 0)
      throw new AggregateError(errors, `${this.workName} failed for ${errors.length} items; see the log`);
  }
}

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
