import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import pg, { type Client, type ClientBase, type PoolClient, type PoolConfig } from 'pg';
import {
  currentUse,
  type CurrentWork,
  currentWork,
  forProcess,
  outsideRequests,
  type Use,
} from '../../current-work/current-work.js';
import { ConcurrencyLimiter, type Lease, QueueFullError } from '../../workers/concurrency-limiter.js';
import { DatabaseBusyError } from '../database-errors.js';
import type { SessionConfig } from './session-client.js';
import { limitOf, TIMEOUTS } from './timeouts.js';

/** The socket of a connection, which pg does not show. */
export const socketOf = (client: ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;

/** Ends a connection without waiting for its server. */
export const destroy = (client: ClientBase): void => {
  socketOf(client).destroy();
};

/** Bytes that a connection has received since it was opened. */
export const receivedBy = (client: ClientBase): number => socketOf(client).bytesRead;

/** Numbers of connections of a database by their use. */
export type Shares = Readonly<Record<Use, number>>;

/** Share of jobs in the connections of requests and jobs. */
const OF_JOBS = 0.3;
/** Connections of a process to the database of the directory for itself, besides those of requests and jobs. */
const OF_PROCESS = 2;
/** A cell with at least this number of connections keeps one of them for the process. */
const ENOUGH = 4;

/** The shares of the database of the directory. @param count connections of requests and jobs */
export const sharesOfMain = (count: number): Shares => divide(count, OF_PROCESS);

/**
 * The shares of a cell. Small cells have none for the process, which depends on the database of the directory only; requests and jobs
 * use a single connection by turns.
 * @param count all connections
 */
export const sharesOfCell = (count: number): Shares =>
  count < ENOUGH ? divide(count, 0) : divide(count - 1, 1);

/** Requests and jobs each use all connections. */
export const shareUndivided = (count: number): Shares => ({ requests: count, jobs: count, process: 0 });

function divide(count: number, process: number): Shares {
  const jobs = Math.max(1, Math.round(count * OF_JOBS));
  return { requests: Math.max(1, count - jobs), jobs, process };
}

/** The connections that the shares need together. */
export const sumOf = ({ requests, jobs, process }: Shares): number => requests + jobs + process;

/** Numbers of connections that a transaction and the transactions within it hold. */
interface Held {
  connections: number;
}

const held = new AsyncLocalStorage<Held>();

/** Runs work that may open transactions. */
export const withTransactions = <T>(work: () => T): T =>
  held.getStore() ? work() : held.run({ connections: 0 }, work);

/** Counts a connection of a transaction until the returned function is called. */
export function holdConnection(): () => void {
  const store = held.getStore();
  if (!store) return () => undefined;
  store.connections += 1;
  let isHeld = true;
  return () => {
    if (isHeld) store.connections -= 1;
    isHeld = false;
  };
}

/** Whether the caller is part of an open transaction. It may need a further connection to end it. */
export const holdsConnection = (): boolean => (held.getStore()?.connections ?? 0) > 0;

/** Requests and statements that may wait for each connection; further ones are rejected with 503. */
const MAX_WAITING_PER_CONNECTION = 50;

type Connected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** The parameters that pg reads for each query. */
type Limited = Client & { connectionParameters: { query_timeout: number } };

/** The idle connections of a pool, a private list of pg, which uses the last one next. If pg has no such list, the choice is left to it. */
interface WithIdle {
  _idle?: { client: Client }[];
}

/** Work that has a connection, and the bytes that the connection had received before. */
interface Checkout {
  work: CurrentWork;
  received: number;
}

export type FairPoolConfig = PoolConfig & Pick<SessionConfig, 'session'> & { shares?: Shares };

/** The connections of a use, and the work that waits for one. */
export interface UseState {
  busy: number;
  max: number;
  waiting: number;
}

/** Requests and statements that may wait for so many connections. */
export const queueOf = (max: number): number => max * MAX_WAITING_PER_CONNECTION;

const limiterOf = (count: number, maxWaitMs: number | undefined): ConcurrencyLimiter =>
  new ConcurrencyLimiter(count, queueOf(Math.max(1, count)), maxWaitMs);

/**
 * A pool whose connections are divided by their use (`Shares`), so that work of one use never waits for that of another. Requests
 * share theirs by user and workspace (`ConcurrencyLimiter`). A connection has the time limit of statements for the work that takes it.
 *
 * Work with an open transaction needs a further connection to end it, and would wait for itself where all such work holds the
 * connections of its use. It takes a free one of its use, or one of the two of the process.
 */
export class FairPool extends pg.Pool {
  private shares: Shares;
  private readonly limiters: Readonly<Record<Use, ConcurrencyLimiter>>;
  /** Limits those of the connections of the process that transactions use. */
  private readonly further: ConcurrencyLimiter;
  private readonly leases = new WeakMap<Client, Pick<Lease, 'release'>>();
  /** Time limit of the statements of each connection; missing: that of its start. */
  private readonly limits = new WeakMap<Client, number>();
  private readonly startLimit: number | undefined;
  private readonly checkouts = new WeakMap<Client, Checkout>();

  /** @param config.shares default: requests and jobs each use all `max` connections */
  constructor(config: FairPoolConfig) {
    super(config);
    const { max = 10, connectionTimeoutMillis, session, shares = shareUndivided(max) } = config;
    const limit = session?.['statement_timeout'];
    this.startLimit = limit === undefined ? undefined : Number(limit);
    this.shares = shares;
    this.limiters = {
      requests: limiterOf(shares.requests, connectionTimeoutMillis),
      // Nobody waits for a job: it waits as long as a statement of another one may take.
      jobs: limiterOf(shares.jobs, TIMEOUTS.statement),
      process: limiterOf(shares.process, connectionTimeoutMillis),
    };
    this.further = limiterOf(1, connectionTimeoutMillis);
    this.on('release', (_error: Error, client: PoolClient) => {
      this.leases.get(client)?.release();
      this.leases.delete(client);
      const checkout = this.checkouts.get(client);
      if (checkout) checkout.work.databaseBytes += receivedBy(client) - checkout.received;
      this.checkouts.delete(client);
    });
  }

  /** Number of requests and other work that wait for a connection. */
  get waiting(): number {
    const { requests, jobs, process } = this.limiters;
    return this.waitingCount + requests.pending + jobs.pending + process.pending + this.further.pending;
  }

  /** The state of the connections of a use. Work that waits for a new connection counts for its use. */
  stateOf(use: Use): UseState {
    const { active, pending } = this.limiters[use];
    return { busy: active, max: this.shares[use], waiting: pending };
  }

  /** @param max of all uses together */
  resize(max: number, shares: Shares): void {
    this.options.max = max;
    this.shares = shares;
    for (const use of ['requests', 'jobs', 'process'] as const)
      this.limiters[use].resize(shares[use], queueOf(Math.max(1, shares[use])));
  }

  /** Closes idle connections: the pool closes a connection that is released with an error. */
  closeIdle(count: number): void {
    for (let n = Math.min(count, this.idleCount); n > 0; n -= 1)
      super.connect((_error, _client, done) => done(true));
  }

  /** @throws DatabaseBusyError */
  override connect(): Promise<PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<PoolClient> | undefined {
    const work = currentWork();
    const connection = this.connection(work).then((client) => this.limited(client, work));
    if (!callback) return connection;
    void report(connection, callback);
    return undefined;
  }

  /** A connection of the process itself. */
  connectAlways(): Promise<PoolClient> {
    return forProcess(() => this.connect());
  }

  private async connection(work: CurrentWork | undefined): Promise<PoolClient> {
    const lease = await this.lease(currentUse());
    try {
      this.preferIdle(work);
      const client = await super.connect();
      if (lease) this.leases.set(client, lease);
      return client;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /** @returns undefined: the pool itself makes it wait. @throws DatabaseBusyError */
  private async lease(use: Use): Promise<Pick<Lease, 'release'> | undefined> {
    const limiter = this.limiters[use];
    const isFurther = use !== 'process' && holdsConnection();
    const free = isFurther ? limiter.takeFree() : undefined;
    if (free) return free;
    if ((isFurther || use === 'process') && this.shares.process === 0) return undefined;
    try {
      return await (isFurther ? this.furtherLease() : limiter.take());
    } catch (error) {
      throw error instanceof QueueFullError ? new DatabaseBusyError() : error;
    }
  }

  /** One connection of the process at a time, so that the other one remains. */
  private async furtherLease(): Promise<Pick<Lease, 'release'>> {
    const place = await this.further.take();
    try {
      const lease = await outsideRequests(() => this.limiters.process.take());
      const release = (): void => {
        lease.release();
        place.release();
      };
      return { release };
    } catch (error) {
      place.release();
      throw error;
    }
  }

  private limitFor(work: CurrentWork | undefined): number | undefined {
    return work && this.startLimit !== undefined ? limitOf(work) : this.startLimit;
  }

  private limitOn(client: Client): number | undefined {
    return this.limits.get(client) ?? this.startLimit;
  }

  /** Requests and jobs have different time limits: an idle connection with that of the work saves the round trip that sets it. */
  private preferIdle(work: CurrentWork | undefined): void {
    const { _idle: idle = [] } = this as unknown as WithIdle;
    const limit = this.limitFor(work);
    const found = idle.findLastIndex(({ client }) => this.limitOn(client) === limit);
    if (found >= 0) idle.push(...idle.splice(found, 1));
  }

  /** Sets the time limit of statements, when the connection had other work before. */
  private async limited(client: PoolClient, work: CurrentWork | undefined): Promise<PoolClient> {
    if (work) this.checkouts.set(client, { work, received: receivedBy(client) });
    const limit = this.limitFor(work);
    if (limit === undefined || this.limitOn(client) === limit) return client;
    try {
      await client.query(`SET statement_timeout = ${limit}`);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.limits.set(client, limit);
    (client as unknown as Limited).connectionParameters.query_timeout =
      limit < TIMEOUTS.response ? TIMEOUTS.response : limit + TIMEOUTS.response;
    return client;
  }
}

async function report(connection: Promise<PoolClient>, callback: Connected): Promise<void> {
  let client: PoolClient;
  try {
    client = await connection;
  } catch (error) {
    callback(error as Error, undefined, () => undefined);
    return;
  }
  callback(undefined, client, (error) => client.release(error as Error | undefined));
}
