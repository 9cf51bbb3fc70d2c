import { tracedStatement } from '../../telemetry/tracer.js';
import { isRejected } from '../database-errors.js';
import { runOn } from '../run-on.js';
import type { Statement } from '../statement.js';
import type { Reader } from '../tx.js';
import { TIMEOUTS } from '../connections/timeouts.js';
import type { ReplicaWork } from './replica.js';

/** Runs the statements of `work` in one read-only transaction, which has one snapshot. */
export const inSnapshot =
  <T>(work: (reader: Pick<Reader, 'query'>) => Promise<T>): ReplicaWork<T> =>
  async (client, limit) => {
    const query = <Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> =>
      tracedStatement(statement, () => runOn(client, statement, values, limit + TIMEOUTS.response));
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      const result = await work({ query });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      // The connection is used again after an error of PostgreSQL, and closed after any other one.
      if (isRejected(error)) await client.query('ROLLBACK');
      throw error;
    }
  };
