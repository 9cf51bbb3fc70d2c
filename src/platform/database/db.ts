import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Client, Pool } from 'pg';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { DatabaseBusyError, isConnectionError, isResponseTimeout, isRetryable } from './database-errors.js';
import { tracedStatement, tracer } from '../telemetry/tracer.js';
import { ReadPipelines } from './read-pipelines.js';
import type { Statement } from './statement.js';
import { OpenTx, SingleTx, Tx, type Reader } from './tx.js';

const MAX_ATTEMPTS = 3;
const JITTER_MS = 30;
/** Statements that may wait for each connection; further requests are rejected with 503. */
const MAX_WAITING_PER_CONNECTION = 50;

/** Number of connections for pipelined reads, besides the pool. With more of them each carries fewer statements at once. */
const READ_PIPELINES = 2;

/** Access to PostgreSQL: reads on any connection, writes only through a `Tx`. */
@Injectable()
export class Db implements Reader, OnApplicationShutdown {
  private readonly logger = new Logger(Db.name);
  private readonly pool: Pool;
  private readonly pipelines: ReadPipelines;
  private readonly maxWaiting: number;
  private trips = 0;
  /** The transaction that the calls of one request join; undefined once it has ended. */
  private readonly joined = new AsyncLocalStorage<{ tx: Tx | undefined }>();

  /** @param dataSource initialised */
  constructor(readonly dataSource: DataSource) {
    this.pool = (dataSource.driver as PostgresDriver).master as Pool;
    // The pool hides its password from copies.
    const { password } = this.pool.options;
    this.pipelines = new ReadPipelines(
      { ...this.pool.options, password, application_name: 'workspace reads' },
      READ_PIPELINES,
    );
    this.maxWaiting = (this.pool.options.max ?? 10) * MAX_WAITING_PER_CONNECTION;
  }

  /** Round trips made so far for requests and jobs of this process, for the metrics. */
  get roundTrips(): number {
    return this.trips;
  }

  /** Connections of the pool: open ones, those of them without work, the maximum; and requests that wait for one. */
  get poolState(): { total: number; idle: number; max: number; waiting: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.pool;
    return { total, idle, max: this.pool.options.max ?? 10, waiting };
  }

  /** TypeORM's reads on any connection of the pool. Use it through `rowsOf`, which offers no writes here. */
  get manager(): EntityManager {
    const tx = this.joined.getStore()?.tx;
    if (tx) return tx.manager;
    this.rejectWhenOverloaded();
    return this.dataSource.manager;
  }

  /** Runs one statement on any connection. For reads; a write takes a `Tx`. */
  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const tx = this.joined.getStore()?.tx;
    if (tx) return tx.query(statement, values);
    this.rejectWhenOverloaded();
    const tracing = tracer();
    return tracing
      ? tracedStatement(tracing, statement, () => this.run(statement, values))
      : this.run(statement, values);
  }

  /**
   * Runs one statement on the pool, also while requests are rejected: for statements that the process itself depends on. They
   * are not counted as round trips of requests.
   */
  async queryAlways<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const { name, text } = statement;
    return (await this.pool.query({ name, text, values: values as unknown[] })).rows as Row[];
  }

  /** A write of one statement: PostgreSQL commits it by itself, in one round trip. */
  async single<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const joined = this.joined.getStore()?.tx;
    if (joined) return work(joined);
    return this.retrying(async () => {
      const tx = new SingleTx(this);
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
    this.rejectWhenOverloaded();
    return this.retrying(() => this.attempt(work));
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

  async onApplicationShutdown(): Promise<void> {
    await this.pipelines.close();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  private async attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    let client: Client | undefined;
    try {
      client = (await runner.connect()) as Client;
      this.trips += 1;
      await runner.startTransaction();
      const tx = new OpenTx(client, runner.manager, () => (this.trips += 1));
      const result = await work(tx);
      this.trips += 1;
      await runner.commitTransaction();
      this.runEffects(tx.effects);
      return result;
    } catch (error) {
      // A connection without response is closed, which ends its transaction: a ROLLBACK would not get a response either.
      const rolledBack = !isResponseTimeout(error) && (await rollBack(runner));
      if (!rolledBack) void client?.end().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
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

  private run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return statement.pipelined ? this.pipelined(statement, values) : this.pooled(statement, values);
  }

  private async pooled<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.trips += 1;
    return this.queryAlways(statement, values);
  }

  private rejectWhenOverloaded(): void {
    const waiting = this.pool.waitingCount + this.pipelines.pending;
    if (waiting >= this.maxWaiting) throw new DatabaseBusyError();
  }

  private async pipelined<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.trips += 1;
    try {
      return await this.pipelines.query(statement, values);
    } catch (error) {
      // The connection fails with every statement pending on it. A read has no effects: the pool runs it again.
      if (!isConnectionError(error) || isResponseTimeout(error)) throw error;
      return this.pooled(statement, values);
    }
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

/** @returns whether the connection can be used on */
async function rollBack(runner: QueryRunner): Promise<boolean> {
  if (!runner.isTransactionActive) return true;
  return runner.rollbackTransaction().then(
    () => true,
    () => false,
  );
}
