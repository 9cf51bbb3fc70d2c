import type { Client, PoolClient } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { currentUse, type Use, USES } from '../current-work/current-work.js';
import { tracedStatement } from '../telemetry/tracer.js';
import { ConcurrencyLimiter, QueueFullError } from '../workers/concurrency-limiter.js';
import { DatabaseHosts } from './connections/database-hosts.js';
import {
  type FairPool,
  type FairPoolConfig,
  holdConnection,
  queueOf,
  sharesOfCell,
  shareUndivided,
  type UseState,
} from './connections/fair-pool.js';
import { ReadPipelines } from './connections/read-pipelines.js';
import {
  DatabaseBusyError,
  isConnectionError,
  isReadOnly,
  isResponseTimeout,
  leavesConnection,
} from './database-errors.js';
import { Replicas } from './replicas/replicas.js';
import { runOn } from './run-on.js';
import type { Statement } from './statement.js';
import { OpenTx, type Reader, type Tx } from './tx.js';

/** Pipelined reads of requests that are pending on each connection. The others wait for their turn (`ConcurrencyLimiter`). */
const READS_PER_PIPELINE = 8;

/** Time between two replacements of all connections, at least; milliseconds. */
const RECONNECT_MS = 1_000;

/** Number of connections for pipelined reads, besides the pool. With more connections, each sends fewer statements at once. */
export const READ_PIPELINES = 2;

/** Numbers of connections of a database. */
export interface ConnectionLimits {
  pool: number;
  /** The number of connections for pipelined reads; 0 means that these reads use the pool. */
  pipelines: number;
}

/** One PostgreSQL database, or a schema of one: its pool, and its connections for pipelined reads. */
export class Database {
  readonly pool: FairPool;
  /** Round trips made so far for requests and jobs of this process. */
  trips = 0;
  /** Standbys that serve reads. Undefined means that the primary serves all. */
  replicas: Replicas | undefined;
  private readonly pipelines: ReadPipelines;
  private readonly reads: ConcurrencyLimiter;
  private reconnectedAt = -Infinity;
  /** The next replacement of all connections. */
  private replacement: NodeJS.Timeout | undefined;

  /**
   * @param name of the cell
   * @param dataSource initialised; its pool size is that of the database
   */
  constructor(
    readonly name: string,
    readonly dataSource: DataSource,
    { pipelines }: Pick<ConnectionLimits, 'pipelines'> = { pipelines: READ_PIPELINES },
  ) {
    this.pool = (dataSource.driver as PostgresDriver).master as FairPool;
    // The pool listens for errors of idle connections only. Without this listener, the loss of another one ends the process.
    this.pool.on('acquire', (client) => {
      if (!client.listeners('error').includes(ignore)) client.on('error', ignore);
    });
    // The pool hides its password from copies.
    const { password, connectionTimeoutMillis } = this.pool.options;
    this.pipelines = new ReadPipelines(
      { ...this.pool.options, password, application_name: 'workspace reads' },
      pipelines,
    );
    this.reads = new ConcurrencyLimiter(this.maxReads, this.maxWaiting('requests'), connectionTimeoutMillis);
  }

  /**
   * From now on, reads of lists may run on these standbys of the database.
   * @param urls not empty
   * @param options.isCell whether the database is a cell, and not that of DATABASE_URL
   */
  useReplicas(urls: readonly string[], { isCell = false } = {}): void {
    const { max = 1, session = {}, shares = shareUndivided(max) } = this.pool.options as FairPoolConfig;
    this.replicas = new Replicas({
      urls,
      cell: isCell ? this.name : undefined,
      session,
      shares,
      onPrimary: async (statement) => {
        this.trips += 1;
        // A cell with few connections has none for pipelined reads.
        if (this.pipelines.size === 0) return this.queryAlways(statement, []);
        try {
          return await this.pipelines.query(statement, []);
        } catch (error) {
          this.noteFailure(error);
          throw error;
        }
      },
    });
    this.replicas.start();
  }

  /** Numbers of open, idle and allowed connections of the pool, and of work that waits for one. */
  get poolState(): PoolState {
    const { totalCount: total, idleCount: idle, waiting } = this.pool;
    const uses = Object.fromEntries(USES.map((use) => [use, this.pool.stateOf(use)])) as PoolState['uses'];
    return { total, idle, max: this.pool.options.max ?? 0, waiting, uses };
  }

  /** Changes the maximum numbers of connections of a cell. Excess connections close when they are idle. */
  limit({ pool, pipelines }: ConnectionLimits): void {
    this.pool.resize(pool, sharesOfCell(pool));
    this.replicas?.resize(sharesOfCell(pool));
    this.pipelines.resize(pipelines);
    this.reads.resize(this.maxReads, this.maxWaiting('requests'));
    // A busy connection closes later, after the idle timeout.
    this.pool.closeIdle(this.pool.totalCount - pool);
  }

  /** @throws DatabaseBusyError when too many statements of the same use wait for a connection */
  rejectWhenOverloaded(): void {
    const use = currentUse();
    const pipelined = use === 'requests' ? this.pipelines.pending : 0;
    if (this.pool.stateOf(use).waiting + pipelined >= this.maxWaiting(use)) throw new DatabaseBusyError();
  }

  /** TypeORM's access to the pool. @throws DatabaseBusyError */
  get manager(): EntityManager {
    this.rejectWhenOverloaded();
    return this.dataSource.manager;
  }

  /** Runs one statement on any connection. @throws DatabaseBusyError */
  async query<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    if (statement.onReplica && this.replicas) return this.queryReplica(this.replicas, statement, values);
    this.rejectWhenOverloaded();
    return tracedStatement(statement, () => this.run(statement, values));
  }

  /** Runs one statement on a connection of the process, also while requests are rejected. It is not counted as a round trip of a request. */
  async queryAlways<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return this.runOnce(await this.pool.connectAlways(), statement, values);
  }

  /** Opens a READ COMMITTED transaction. The caller ends it, and releases it afterwards. */
  async begin({ hasLongStatements = false } = {}): Promise<OpenTx> {
    const runner = this.dataSource.createQueryRunner();
    let client: Client | undefined;
    try {
      client = (await runner.connect()) as Client;
      this.trips += 1;
      await runner.startTransaction();
      const tx = new OpenTx(
        client,
        runner,
        () => (this.trips += 1),
        (error) => this.noteFailure(error),
        holdConnection(),
      );
      if (hasLongStatements) await tx.allowLongStatements();
      return tx;
    } catch (error) {
      this.noteFailure(error);
      if (isResponseTimeout(error)) void client?.end().catch(() => undefined);
      await runner.release();
      throw error;
    }
  }

  /** After one statement without a response, or on a read-only server, the other connections are likely to fail in the same way. */
  private noteFailure(error: unknown): void {
    if (isReadOnly(error) || isResponseTimeout(error)) this.reconnect();
  }

  async close(): Promise<void> {
    clearTimeout(this.replacement);
    await this.replicas?.close();
    await this.pipelines.close();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }

  /**
   * Replaces idle connections: their server may have become a read-only one, or have disappeared. A busy one is closed when its
   * statement fails. Writes fail, and call this method, until a fail-over is complete: calls soon after another one are joined
   * into a replacement after them, which finds the connections that were opened in the meantime.
   */
  private reconnect(): void {
    if (this.replacement) return;
    const wait = Math.max(0, this.reconnectedAt + RECONNECT_MS - performance.now());
    if (wait === 0) return this.replaceConnections();
    this.replacement = setTimeout(() => this.replaceConnections(), wait).unref();
  }

  private replaceConnections(): void {
    this.replacement = undefined;
    this.reconnectedAt = performance.now();
    DatabaseHosts.of(this.pool.options.connectionString).forget();
    this.pipelines.reconnect();
    this.pool.closeIdle(this.pool.idleCount);
  }

  private maxWaiting(use: Use): number {
    return queueOf(Math.max(1, this.pool.stateOf(use).max));
  }

  private get maxReads(): number {
    return this.pipelines.size * READS_PER_PIPELINE;
  }

  private run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    // Work without a request has connections of its own: it does not wait for the reads of requests.
    const isFree = currentUse() === 'requests' || this.reads.pending === 0;
    return statement.pipelined && this.pipelines.size > 0 && isFree
      ? this.pipelined(statement, values)
      : this.pooled(statement, values);
  }

  private queryReplica<Row>(
    replicas: Replicas,
    statement: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]> {
    return tracedStatement(statement, async () => {
      const rows = await replicas.read(statement, values);
      if (rows) return rows;
      this.rejectWhenOverloaded();
      return this.run(statement, values);
    });
  }

  private async pooled<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.trips += 1;
    return this.runOnce(await this.pool.connect(), statement, values);
  }

  /** Runs one statement on a connection of the pool, and gives it back. */
  private async runOnce<Row>(
    client: PoolClient,
    statement: Statement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]> {
    // Pool.query() closes the connection after each error, also when PostgreSQL has only rejected a value.
    let isUsable = true;
    try {
      return await runOn(client, statement, values);
    } catch (error) {
      isUsable = leavesConnection(error);
      this.noteFailure(error);
      throw error;
    } finally {
      client.release(!isUsable);
    }
  }

  private async pipelined<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]> {
    this.trips += 1;
    try {
      return await this.reads.run(() => this.pipelines.query(statement, values));
    } catch (error) {
      if (error instanceof QueueFullError) throw new DatabaseBusyError();
      this.noteFailure(error);
      // The connection fails with every statement pending on it. A read has no effects: the pool runs it again.
      if (!isConnectionError(error) || isResponseTimeout(error)) throw error;
      return this.pooled(statement, values);
    }
  }
}

/** The listener ignores the error of a connection, because the running statement fails with it. */
const ignore = (): void => undefined;

export interface PoolState {
  total: number;
  idle: number;
  max: number;
  waiting: number;
  uses: Record<Use, UseState>;
}

/** Chooses the databases of statements where workspaces are in several databases (cells, docs/scaling.md). */
export interface Router {
  /** False means that one database has everything. */
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
