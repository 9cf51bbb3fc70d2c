import { errorCode } from '../../../src/platform/database/database-errors.js';
import type { Db } from '../../../src/platform/database/db.js';

/**
 * Counts deadlocks, also those of transactions that succeeded when they were repeated. PostgreSQL publishes its own count up to ten
 * seconds late.
 * @returns the number since the last call
 */
export function countDeadlocks(...databases: Db[]): () => number {
  let count = 0;
  for (const db of databases as any[]) {
    const retrying = db.retrying.bind(db);
    db.retrying = (attempt: () => Promise<unknown>) =>
      retrying(() =>
        attempt().catch((error: unknown) => {
          if (errorCode(error) === '40P01') count += 1;
          throw error;
        }),
      );
  }
  return () => {
    const counted = count;
    count = 0;
    return counted;
  };
}
