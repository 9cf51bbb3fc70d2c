import type { Database } from './database.js';
import type { Statement } from './statement.js';
import type { Reader, Tx } from './tx.js';

/** Chooses the databases of statements where workspaces are in several databases (cells, docs/scaling.md). */
export interface Router {
  /** False: one database has everything. */
  readonly isSpread: boolean;

  /**
   * @param directory reads the directory: the transaction of the statement, or the pool
   * @returns the databases that the statement runs in, see `Reach`
   * @throws CellUnavailableError
   */
  databasesOf(
    statement: Statement<unknown>,
    values: readonly unknown[],
    directory: Pick<Reader, 'query'>,
  ): Promise<readonly Database[]>;

  /** The cell of a workspace. @param directory reads the directory */
  cellOf(tenantId: string, directory: Pick<Reader, 'query'>): Promise<string>;

  /** The database of a workspace. @throws CellUnavailableError */
  databaseOf(tenantId: string, directory: Pick<Reader, 'query'>): Promise<Database>;

  /** Names of the cells, the directory's database included. */
  readonly cells: readonly string[];

  /** @throws CellUnavailableError */
  cell(name: string): Promise<Database>;

  /** The databases that are open, the directory's included. */
  readonly opened: readonly Database[];

  /** Records in a transaction of the directory that the parts of a commit with this id commit. @throws when they roll back */
  decide(tx: Tx, gid: string): Promise<void>;

  close(): Promise<void>;
}
