import type pg from 'pg';
import { isRetryable, isTimeout } from '../../database/database-errors.js';

const ATTEMPTS = 20;
/** Time for which the statements wait for the lock. Other writers of the table wait behind them in that time. */
const LOCK_TIMEOUT_MS = 500;

/** Runs statements that lock a table, in a transaction. Retries while transactions of other workspaces hold the lock. */
export async function locked(client: pg.Client, statements: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await client.query(
        ['BEGIN;', `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS};`, ...statements, 'COMMIT;'].join('\n'),
      );
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (attempt >= ATTEMPTS || !(isTimeout(error) || isRetryable(error))) throw error;
    }
}
