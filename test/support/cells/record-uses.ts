import type { Db } from '../../../src/platform/database/db.js';
import type { Statement } from '../../../src/platform/database/statement.js';
import type { Tx } from '../../../src/platform/database/tx.js';
import { callerOf } from '../database/callers.ts';
import { noteUse } from './uses.ts';

/** Mark of a statement whose rows follow each other, from several databases. */
const SEVERAL = '*';
/** Mark of a statement that has returned no row, or only zeros: it shows little. */
const EMPTY = '?';

/** Whether a statement takes another way where workspaces are in several databases: others run in the database of their workspace. */
export const differs = ({ name, home, reach }: Statement<unknown>): boolean =>
  (home === 'workspace' || home === 'either') &&
  reach !== 'tenant' &&
  name !== '' &&
  !name.startsWith('test.');

const isEmpty = (rows: readonly unknown[]): boolean =>
  rows.every((row) => Object.values(row as object).every((value) => !value));

/**
 * Records for the running test file what takes another way where workspaces are in several databases:
 *
 * - `<statement>`: a statement whose reach is not the tenant; with `*` in several databases, with `?` without a result;
 * - `cells <place>`: code that divides its work by cells.
 *
 * Jobs and handlers of events have no entries but those of their statements; `test/e2e/cells` runs each job in each cell.
 * `checkTransactions` adds `tx <place>`: a transaction of several databases.
 */
export function recordUses(db: Db): void {
  const run = <Row>(statement: Statement<Row>, query: () => Promise<Row[]>): Promise<Row[]> => {
    if (!differs(statement)) return query();
    const isSeveral =
      statement.reach === 'account' ||
      statement.reach === 'all' ||
      (statement.reach === 'cell' && db.currentCell === undefined);
    const use = `${statement.name}${isSeveral ? SEVERAL : ''}`;
    return query().then((rows) => {
      noteUse(isEmpty(rows) ? `${use}${EMPTY}` : use);
      return rows;
    });
  };
  for (const method of ['query', 'queryAlways'] as const) {
    const query = db[method].bind(db);
    db[method] = (statement, values) => run(statement, () => query(statement, values));
  }
  const watched = new WeakSet<Tx>();
  for (const method of ['tx', 'single'] as const) {
    const begin = db[method].bind(db);
    db[method] = (work) =>
      begin((tx) => {
        if (watched.has(tx)) return work(tx);
        watched.add(tx);
        const query = tx.query.bind(tx);
        tx.query = (statement, values) => run(statement, () => query(statement, values));
        // With several databases it runs on the parts of the transaction.
        const allowLongStatements = tx.allowLongStatements.bind(tx);
        tx.allowLongStatements = () => {
          noteUse('tx.long_statements');
          return allowLongStatements();
        };
        return work(tx);
      });
  }
  for (const method of ['inEachCell', 'inReachableCells', 'byCell', 'ofCurrentCell'] as const) {
    const work = db[method].bind(db) as (...args: unknown[]) => unknown;
    Object.assign(db, {
      [method]: (...args: unknown[]) => {
        const place = callerOf(/^dist\/(?!platform\/database\/)/);
        if (place) noteUse(`cells ${place.name}`);
        return work(...args);
      },
    });
  }
}
