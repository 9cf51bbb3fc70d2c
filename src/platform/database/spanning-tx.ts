import { Logger } from '@nestjs/common';
import type { DataSource, EntityManager } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Router } from './database.js';
import { mayHaveCommitted } from './database-errors.js';
import { directory, type Statement } from './statement.js';
import { type OpenTx, type Reader, Tx } from './tx.js';

const logger = new Logger('SpanningTx');

/** Prefix of the global ids of this application: `workspace:<cell>:<id>`. */
export const GID_PREFIX = 'workspace:';

/** A transaction without an id has written and locked nothing. */
const hasWritten = directory.statement<{ written: boolean }>(
  'tx.has_written',
  `SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS written`,
);

/** The global id of one part of a commit. @param cell that the part is in */
export const gidOf = (cell: string, id: string): string => `${GID_PREFIX}${cell}:${id}`;

/** @returns the id of the commit that a part belongs to */
export const commitOf = (gid: string): string => gid.slice(gid.lastIndexOf(':') + 1);

/**
 * A transaction whose statements run where they belong: in the directory, and in the cells of their workspaces. It opens a
 * connection to a database with the first statement there.
 *
 * Usually only one database has changes, and they are committed with COMMIT. Changes in several databases are committed in two
 * phases (PREPARE TRANSACTION): each cell prepares its part, the directory commits its own part with the decision, then the cells
 * commit. If the process ends between the phases, `UnfinishedCommits` finishes its parts according to the decision.
 */
export class SpanningTx extends Tx {
  /** Statements that run at the same time share the connection to a database. */
  private readonly parts = new Map<Database, Promise<OpenTx>>();
  /** Databases of workspaces. */
  private readonly databases = new Map<string, Promise<Database>>();
  private last: OpenTx | undefined;
  private hasLongStatements = false;

  constructor(
    private readonly main: Database,
    private readonly router: Router,
  ) {
    super();
  }

  get dataSource(): DataSource {
    return this.main.dataSource;
  }

  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    if (statement.reach === 'transaction' && this.last) return this.last.query(statement, values);
    const databases = await this.databasesOf(statement, values);
    const rows: Row[] = [];
    for (const database of databases) {
      this.last = await this.part(database);
      rows.push(...(await this.last.query(statement, values)));
    }
    return rows;
  }

  async managerOf(tenantId: string | null): Promise<EntityManager> {
    const database = tenantId === null ? this.main : await this.databaseOf(tenantId);
    return (await this.part(database)).managerOf();
  }

  async allowLongStatements(): Promise<void> {
    this.hasLongStatements = true;
    for (const [, part] of await this.opened()) await part.allowLongStatements();
  }

  /** @throws the error of a part that could not commit; nothing is committed then, unless the connection was lost meanwhile */
  async commit(): Promise<void> {
    const parts = await this.opened();
    const [only, ...others] = parts;
    if (!only) return;
    if (others.length === 0) {
      await only[1].commit();
      return;
    }
    const written: [Database, OpenTx][] = [];
    for (const entry of parts)
      if ((await entry[1].query(hasWritten, []))[0]?.written === true) written.push(entry);
    if (written.length <= 1) await written[0]?.[1].commit();
    else await this.commitInTwoPhases(written);
    // The other parts have no changes. They keep their advisory locks until the commit.
    for (const [, part] of parts) await part.rollBack();
  }

  /** @param cause the error that ended the work */
  async rollBack(cause: unknown): Promise<void> {
    for (const [, part] of await this.opened()) await part.rollBack(cause);
  }

  async release(): Promise<void> {
    for (const [, part] of await this.opened()) await part.release();
  }

  private async commitInTwoPhases(written: readonly [Database, OpenTx][]): Promise<void> {
    const id = uuidv7();
    const cells = written.filter(([database]) => database !== this.main);
    const directoryPart = await this.part(this.main);
    const prepared: [gid: string, part: OpenTx][] = [];
    let isDecided = false;
    try {
      for (const [{ name }, part] of cells) {
        await part.prepare(gidOf(name, id));
        prepared.push([gidOf(name, id), part]);
      }
      await this.router.decide(directoryPart, id);
      isDecided = true;
      await directoryPart.commit();
    } catch (error) {
      // `UnfinishedCommits` reads the decision.
      if (mayHaveCommitted(isDecided, error)) throw error;
      // The directory has not committed, so all parts roll back.
      for (const [gid, part] of prepared) await part.rollBackPrepared(gid).catch(unfinished(gid));
      throw error;
    }
    for (const [gid, part] of prepared) await part.commitPrepared(gid).catch(unfinished(gid));
  }

  private async databasesOf(
    statement: Statement<unknown>,
    values: readonly unknown[],
  ): Promise<readonly Database[]> {
    if (statement.home === 'directory') return [this.main];
    if (statement.home !== 'mail_service' && statement.reach === 'tenant')
      return [await this.databaseOf(values[0] as string)];
    return this.router.databasesOf(statement, values, this.directoryReader());
  }

  /** The same until the end, even if a move switches meanwhile: the rows that were read and locked are in the former cell. */
  private databaseOf(tenantId: string): Promise<Database> {
    let database = this.databases.get(tenantId);
    if (!database) {
      database = this.router.databaseOf(tenantId, this.directoryReader());
      this.databases.set(tenantId, database);
    }
    return database;
  }

  /** Reads the directory, with the workspaces that this transaction has created. */
  private directoryReader(): Pick<Reader, 'query'> {
    const part = this.parts.get(this.main);
    if (!part) return this.main;
    return { query: async (statement, values) => (await part).query(statement, values) };
  }

  private part(database: Database): Promise<OpenTx> {
    let part = this.parts.get(database);
    if (!part) {
      database.rejectWhenOverloaded();
      part = database.begin({ hasLongStatements: this.hasLongStatements });
      this.parts.set(database, part);
    }
    return part;
  }

  /** The connections, without those that could not be opened. */
  private async opened(): Promise<[Database, OpenTx][]> {
    const parts = await Promise.allSettled(
      [...this.parts].map(async ([database, part]) => [database, await part] as [Database, OpenTx]),
    );
    return parts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  }
}

const unfinished = (gid: string) => (error: unknown) =>
  logger.warn({ err: error, gid }, 'a part of a commit in several databases will be finished later');
