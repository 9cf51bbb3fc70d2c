import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { Client } from 'pg';
import { tracedStatement } from '../telemetry/tracer.js';
import { isReadOnly, isResponseTimeout } from './database-errors.js';
import { runOn } from './run-on.js';
import { either, type Statement } from './statement.js';

/** Limit of the statements of `allowLongStatements`, and of the time without their response, milliseconds. */
const LONG = { statement: 120_000, response: 125_000 } as const;

const longStatements = either.statement<never>(
  'tx.long_statements',
  `SET LOCAL statement_timeout = ${LONG.statement}`,
  { reach: 'transaction' },
);

/** Reads the database: the pool (`Db`) or an open transaction (`Tx`). Functions that write take a `Tx`. */
export interface Reader {
  query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;

  /**
   * TypeORM's access to the same connection or pool, for tables that are not performance-critical. Use it through `rowsOf`.
   * @param tenantId the workspace whose rows are read or written; null: the directory
   */
  managerOf(tenantId: string | null): EntityManager | Promise<EntityManager>;

  /** Metadata of the entities. Statements do not use it. */
  readonly dataSource: DataSource;
}

/** An open transaction. No code outside of this folder makes one: take it from `Db.tx` or `Db.single`. */
export abstract class Tx implements Reader {
  /** Makes a `Db` not assignable to a `Tx`: a forgotten transaction does not compile. */
  declare private readonly brand: never;

  /** The callbacks of {@link afterCommit}. */
  readonly effects: (() => void)[] = [];

  abstract readonly dataSource: DataSource;

  abstract query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;

  abstract managerOf(tenantId: string | null): EntityManager | Promise<EntityManager>;

  /** Raises the time limit of its statements to two minutes, for statements that read or delete the rows of many years. */
  abstract allowLongStatements(): Promise<void>;

  /** Runs `effect` once the transaction has committed; its failure is logged and changes nothing. */
  afterCommit(effect: () => void): void {
    this.effects.push(effect);
  }
}

/** Several statements between BEGIN and COMMIT on one connection of one database. */
export class OpenTx extends Tx {
  /** Time without a response, milliseconds; undefined: that of the connection. */
  private responseLimit: number | undefined;

  /** @param onRelease called when the connection goes back to the pool */
  constructor(
    private readonly client: Client,
    readonly runner: QueryRunner,
    private readonly count: () => void,
    private readonly onFailure: (error: unknown) => void,
    private readonly onRelease: () => void,
  ) {
    super();
  }

  get dataSource(): DataSource {
    return this.runner.dataSource;
  }

  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.count();
    return tracedStatement(statement, () => this.run(statement, values));
  }

  managerOf(): EntityManager {
    return this.runner.manager;
  }

  async allowLongStatements(): Promise<void> {
    await this.query(longStatements, []);
    this.responseLimit = LONG.response;
  }

  async commit(): Promise<void> {
    this.count();
    await this.runner.commitTransaction();
  }

  /**
   * Ends the transaction without its changes.
   * @param cause the error that ended it. After a response timeout, and on a replica, the connection is closed in place of a
   *   ROLLBACK, which would get no response either
   */
  async rollBack(cause?: unknown): Promise<void> {
    const isUsable = !isReadOnly(cause) && !isResponseTimeout(cause) && (await this.tryRollBack());
    this.onFailure(cause);
    if (!isUsable) void this.client.end().catch(() => undefined);
  }

  /**
   * First phase of a commit in several databases: the transaction ends, and stays in the server until {@link commitPrepared} or
   * {@link rollBackPrepared}, also when this process ends.
   * @param gid global id, which no other transaction of the server has
   */
  async prepare(gid: string): Promise<void> {
    await this.runner.query(`PREPARE TRANSACTION '${gid}'`);
    // TypeORM does not recognise that PREPARE TRANSACTION ends the transaction.
    (this.runner as { isTransactionActive: boolean }).isTransactionActive = false;
  }

  async commitPrepared(gid: string): Promise<void> {
    await this.runner.query(`COMMIT PREPARED '${gid}'`);
  }

  async rollBackPrepared(gid: string): Promise<void> {
    await this.runner.query(`ROLLBACK PREPARED '${gid}'`);
  }

  /** Gives the connection back to the pool. */
  async release(): Promise<void> {
    this.onRelease();
    await this.runner.release();
  }

  /** @returns whether the connection is still usable */
  private async tryRollBack(): Promise<boolean> {
    if (!this.runner.isTransactionActive) return true;
    return this.runner.rollbackTransaction().then(
      () => true,
      () => false,
    );
  }

  private run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return runOn(this.client, statement, values, this.responseLimit);
  }
}

/**
 * A transaction of exactly one statement, which PostgreSQL commits by itself: one round trip instead of three.
 * A second statement would be a second transaction and is therefore rejected.
 */
export class SingleTx extends Tx {
  private used = false;

  constructor(private readonly reader: Reader) {
    super();
  }

  get dataSource(): DataSource {
    return this.reader.dataSource;
  }

  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    if (this.used)
      throw new Error(`Db.single allows one statement; ${statement.name} is the second: use Db.tx`);
    this.used = true;
    return this.reader.query(statement, values);
  }

  async allowLongStatements(): Promise<void> {
    throw new Error('Db.single has the limits of requests: use Db.tx');
  }

  async managerOf(): Promise<EntityManager> {
    throw new Error('Db.single has no entity manager: use Db.tx');
  }
}
