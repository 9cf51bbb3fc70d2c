import type pg from 'pg';
import { isRetryable, isTimeout } from '../../database/database-errors.js';

const ATTEMPTS = 20;
/** Time for which the statements wait for the lock. Other writers of the table wait behind them in that time. */
const LOCK_TIMEOUT_MS = 500;

/** Runs statements that lock a table, in a transaction. Retries while transactions of other workspaces hold the lock. */
export const locked = (client: pg.Client, statements: readonly string[]): Promise<void> =>
  lockedEach(client, [statements]);

/**
 * Runs the statements of each table in a transaction of its own, so that no other writer waits for more than one lock.
 * @param tables statements of each table, which have the same effect when they run again
 */
export async function lockedEach(client: pg.Client, tables: readonly (readonly string[])[]): Promise<void> {
  const transactions = tables.map((statements) =>
    ['BEGIN;', `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};`, ...statements, 'COMMIT;'].join('\n'),
  );
  // First all of them in one message: each round trip is time in which the users of the workspace cannot work.
  if (transactions.length > 1 && (await isDone(client, transactions.join('\n')))) return;
  for (const transaction of transactions)
    for (let attempt = 1; !(await isDone(client, transaction, attempt >= ATTEMPTS)); attempt += 1);
}

/** @returns whether the statements ran; false after a lock that others held, unless this attempt is the last: then its error */
async function isDone(client: pg.Client, message: string, isLast = false): Promise<boolean> {
  try {
    await client.query(message);
    return true;
  } catch (error) {
    await client.query('ROLLBACK');
    if (isLast || !(isTimeout(error) || isRetryable(error))) throw error;
    return false;
  }
}
