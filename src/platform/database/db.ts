import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { withTransactions } from './connections/fair-pool.js';
import { isRetryable } from './database-errors.js';
import { Database, type Router } from './database.js';
import { SpanningTx } from './spanning-tx.js';
import type { Statement } from './statement.js';
import { type OpenTx, SingleTx, type Tx, type Reader } from './tx.js';

const MAX_ATTEMPTS = 3;
const JITTER_MS = 30;

/** Name of the database with the directory, and with the workspaces that are in no other cell. */
export const MAIN = 'main';

/**
 * Access to PostgreSQL: reads on any connection, writes only through a `Tx`. Where workspaces are in several databases, each
 * statement runs in those that it belongs to (`Router`).
 */
@Injectable()
export class Db implements Reader, OnApplicationShutdown {
  /** The database of the directory. It has all data unless workspaces are in several databases. */
  readonly main: Database;
  private readonly logger = new Logger(Db.name);
  private router: Router | undefined;
  private readonly poolListeners: ((pool: Pool) => void)[] = [];
  /** The transaction that the calls of one request join; undefined once it has ended. */
  private readonly joined = new AsyncLocalStorage<{ tx: Tx | undefined }>();
  private readonly chosen = new AsyncLocalStorage<string>();

  /** @param dataSource initialised */
  constructor(readonly dataSource: DataSource) {
    this.main = new Database(MAIN, dataSource);
  }

  /** From now on, `router` chooses the databases of statements. */
  route(router: Router): void {
    this.router = router;
  }

  /** Round trips made so far for requests and jobs of this process, for the metrics. */
  get roundTrips(): number {
    return this.databases.reduce((sum, { trips }) => sum + trips, 0);
  }

  /** The databases that this process has opened. */
  get databases(): readonly Database[] {
    return this.router?.opened ?? [this.main];
  }

  /** @param listener called for the pool of each database, also of those that are opened later */
  onPool(listener: (pool: Pool) => void): void {
    this.poolListeners.push(listener);
    for (const { pool } of this.databases) listener(pool);
  }

  /** Called by the router. */
  reportOpened({ pool }: Database): void {
    for (const listener of this.poolListeners) listener(pool);
  }

  managerOf(tenantId: string | null): EntityManager | Promise<EntityManager> {
    const tx = this.joined.getStore()?.tx;
    if (tx) return tx.managerOf(tenantId);
    if (!this.router?.isSpread || tenantId === null) return this.main.manager;
    return this.router.databaseOf(tenantId, this.main).then(({ manager }) => manager);
  }

  /** Runs one statement on any connection. It serves reads; a write takes a `Tx`. */
  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const tx = this.joined.getStore()?.tx;
    if (tx) return tx.query(statement, values);
    if (!this.router?.isSpread || statement.home === 'directory') return this.main.query(statement, values);
    const databases = await this.router.databasesOf(statement, values, this.main);
    const [only, ...others] = databases as readonly [Database, ...Database[]];
    if (others.length === 0) return only.query(statement, values);
    return (await Promise.all(databases.map((each) => each.query(statement, values)))).flat();
  }

  /**
   * Runs reads of a workspace that belong together, such as those of a cursor: in one snapshot on a read replica where one can serve them,
   * otherwise in a transaction.
   * @param work has no effects: after a failure on a replica it runs again
   */
  async scan<T>(tenantId: string, work: (reader: Pick<Reader, 'query'>) => Promise<T>): Promise<T> {
    if (!this.joined.getStore()?.tx) {
      const { replicas } = this.router?.isSpread
        ? await this.router.databaseOf(tenantId, this.main)
        : this.main;
      const result = await replicas?.readSnapshot(work);
      if (result) return result.value;
    }
    return this.tx(work);
  }

  /**
   * Runs one statement in the directory's database, or in the cell that {@link inCell} has chosen, also while requests are
   * rejected: for statements that the process itself depends on. They are not counted as round trips of requests.
   */
  async queryAlways<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const cell = statement.home === 'directory' ? undefined : this.currentCell;
    const database = cell && this.router ? await this.router.cell(cell) : this.main;
    return database.queryAlways(statement, values);
  }

  /** A write of one statement: PostgreSQL commits it by itself, in one round trip. */
  async single<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const joined = this.joined.getStore()?.tx;
    if (joined) return work(joined);
    return this.retrying(async () => {
      const tx = new SingleTx(this.router?.isSpread ? this.wholeStatements(this.router) : this);
      const result = await work(tx);
      this.runEffects(tx.effects);
      return result;
    });
  }

  /**
   * Runs `work` in a READ COMMITTED transaction. The whole callback is repeated (3 attempts) on a deadlock or
   * serialisation failure, so it must not have effects outside the database: use `tx.afterCommit`.
   */
  async tx<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const joined = this.joined.getStore()?.tx;
    if (joined) return work(joined);
    this.main.rejectWhenOverloaded();
    return this.retrying(() => withTransactions(() => this.attempt(work)));
  }

  /**
   * Runs `work` so that all its reads and transactions use this transaction: they commit, or are repeated, with it. Work
   * that outlives the call uses the pool again.
   */
  async within<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
    const store: { tx: Tx | undefined } = { tx };
    try {
      return await this.joined.run(store, work);
    } finally {
      store.tx = undefined;
    }
  }

  /** Names of the cells: the databases with workspaces. The first one is `main`. */
  get cells(): readonly string[] {
    return this.router?.cells ?? [MAIN];
  }

  /** The cell that the caller works in; undefined: it has chosen none. */
  get currentCell(): string | undefined {
    return this.chosen.getStore();
  }

  /** Runs `work` with the statements of the reach `cell` in this cell. */
  async inCell<T>(cell: string, work: () => Promise<T>): Promise<T> {
    return this.chosen.run(cell, work);
  }

  /**
   * Runs `work` in each cell, one after the other. After a failure in one cell, it still runs in the others.
   * @returns the results of the cells
   * @throws the error of the cell, an AggregateError when several fail
   */
  async inEachCell<T>(work: () => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    const errors: unknown[] = [];
    for (const cell of this.cells)
      await this.inCell(cell, work).then(
        (result) => results.push(result),
        (error: unknown) => errors.push(error),
      );
    if (errors.length > 1) throw new AggregateError(errors, `the work failed in ${errors.length} cells`);
    if (errors.length > 0) throw errors[0];
    return results;
  }

  /**
   * Runs `work` in all cells at the same time.
   * @param waitMs time limit of the cells other than `main`
   * @returns the results without those of cells that fail or take longer
   * @throws the error in `main`
   */
  async inReachableCells<T>(work: () => Promise<T>, waitMs = 1_000): Promise<T[]> {
    const [main = MAIN, ...others] = this.cells;
    const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), waitMs).unref());
    const results = others.map((cell) =>
      Promise.race([this.inCell(cell, work).catch(() => undefined), late]),
    );
    const first = await this.inCell(main, work);
    return [first, ...(await Promise.all(results)).filter((result) => result !== undefined)];
  }

  /**
   * Runs `work` in each cell that has items, with the items of the cell, in all cells at the same time. A failure in one cell
   * does not affect the others.
   * @param tenantOf the workspace of an item
   * @param directory a transaction that may have created the workspaces
   * @throws the error of the first cell that failed, once all have ended
   */
  async byCell<T, R>(
    items: readonly T[],
    tenantOf: (item: T) => string,
    work: (items: readonly T[]) => Promise<R[]>,
    directory: Pick<Reader, 'query'> = this.main,
  ): Promise<R[]> {
    const { router } = this;
    if (!router?.isSpread) return work(items);
    const groups = new Map<string, T[]>();
    for (const item of items) {
      const cell = await router.cellOf(tenantOf(item), directory);
      const own = groups.get(cell) ?? [];
      own.push(item);
      groups.set(cell, own);
    }
    const runs = await Promise.allSettled(
      [...groups].map(([cell, own]) => this.inCell(cell, () => work(own))),
    );
    return runs.flatMap((run) => {
      if (run.status === 'rejected') throw run.reason;
      return run.value;
    });
  }

  /** The items whose workspaces are in the cell that the caller works in. @param tenantOf the workspace of an item */
  async ofCurrentCell<T>(items: readonly T[], tenantOf: (item: T) => string): Promise<readonly T[]> {
    const { router, currentCell } = this;
    if (!router?.isSpread || currentCell === undefined) return items;
    const own = new Set<string>();
    for (const tenantId of new Set(items.map(tenantOf)))
      if ((await router.cellOf(tenantId, this.main)) === currentCell) own.add(tenantId);
    return items.filter((item) => own.has(tenantOf(item)));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.router?.close();
    await this.main.close();
  }

  private async attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const tx: SpanningTx | OpenTx = this.router?.isSpread
      ? new SpanningTx(this.main, this.router)
      : await this.main.begin();
    try {
      const result = await work(tx);
      await tx.commit();
      this.runEffects(tx.effects);
      return result;
    } catch (error) {
      await tx.rollBack(error);
      throw error;
    } finally {
      await tx.release();
    }
  }

  private async retrying<T>(attempt: () => Promise<T>): Promise<T> {
    for (let n = 1; ; n += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (n >= MAX_ATTEMPTS || !isRetryable(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * JITTER_MS * n));
      }
    }
  }

  /** Runs a statement that writes in several databases in one transaction, so that it commits in all of them or in none. */
  private wholeStatements(router: Router): Reader {
    return {
      dataSource: this.dataSource,
      managerOf: (tenantId) => this.managerOf(tenantId),
      query: async (statement, values) => {
        const databases = await router.databasesOf(statement, values, this.main);
        return databases.length > 1
          ? withTransactions(() => this.attempt((tx) => tx.query(statement, values)))
          : (databases[0] as Database).query(statement, values);
      },
    };
  }

  private runEffects(effects: (() => void)[]): void {
    for (const effect of effects) {
      try {
        effect();
      } catch (error) {
        this.logger.error(error, 'after commit');
      }
    }
  }
}
