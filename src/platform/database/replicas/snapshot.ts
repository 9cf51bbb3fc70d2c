import { tracedStatement } from '../../telemetry/tracer.js';
import { isRejected } from '../database-errors.js';
import { runOn } from '../run-on.js';
import type { Statement } from '../statement.js';
import type { Reader } from '../tx.js';
import { TIMEOUTS } from '../connections/timeouts.js';
import type { ReplicaWork } from './replica.js';

/**
 * Runs the statements of `work` in one read-only transaction, which has one snapshot.
 * @returns a function with the result of `work`: an error that is not one of its statements is its result, and no failure of the replica
 */
export const inSnapshot =
  <T>(work: (reader: Pick<Reader, 'query'>) => Promise<T>): ReplicaWork<() => T> =>
  async (client, limit) => {
    const ofStatements = new Set<unknown>();
    const query = <Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> =>
      tracedStatement(statement, () => runOn(client, statement, values, limit + TIMEOUTS.response)).catch(
        (error: unknown) => {
          ofStatements.add(error);
          throw error;
        },
      );
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    let result: T;
    try {
      result = await work({ query });
    } catch (error) {
      const isOfStatement = ofStatements.has(error);
      // The connection is used again, unless an error of a statement is not one of PostgreSQL. A lost one fails with this statement too.
      if (!isOfStatement || isRejected(error)) await client.query('ROLLBACK').catch(() => undefined);
      if (isOfStatement) throw error;
      return () => {
        throw error;
      };
    }
    await client.query('COMMIT');
    return () => result;
  };
