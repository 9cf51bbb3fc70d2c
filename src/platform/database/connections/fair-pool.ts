import pg, { type Client, type PoolClient, type PoolConfig } from 'pg';
import { currentWork, type CurrentWork } from '../../current-work/current-work.js';
import { ConcurrencyLimiter, type Lease, QueueFullError } from '../../workers/concurrency-limiter.js';
import { DatabaseBusyError } from '../database-errors.js';
import type { PrimaryClientConfig } from './primary-client.js';
import { receivedBy } from './received-bytes.js';
import { TIMEOUTS } from './timeouts.js';

/** Share of the connections that requests leave to jobs, to the delivery of events, and to the process itself. */
const OWN = 0.3;
/** Requests and statements that may wait for each connection; further ones are rejected with 503. */
const MAX_WAITING_PER_CONNECTION = 50;

type Connected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** The parameters that pg reads for each query. */
type Limited = Client & { connectionParameters: { query_timeout: number } };

/** Work that has a connection, and the bytes that the connection had received before. */
interface Checkout {
  work: CurrentWork;
  received: number;
}

/** Connections that requests use at the same time. */
const ofRequests = (max: number): number => Math.max(1, max - Math.round(max * OWN));

/** Requests and statements that may wait for so many connections. */
export const queueOf = (max: number): number => max * MAX_WAITING_PER_CONNECTION;

/**
 * A pool whose connections requests share by user and workspace (`ConcurrencyLimiter`). Work without a request uses all connections
 * that requests leave, and at least three tenths of them. A connection has the time limit of statements for the work that takes it.
 */
export class FairPool extends pg.Pool {
  private readonly requests: ConcurrencyLimiter;
  private readonly leases = new WeakMap<Client, Lease>();
  /** Time limit of the statements of each connection; missing: that of its start. */
  private readonly limits = new WeakMap<Client, number>();
  private readonly startLimit: number | undefined;
  private readonly checkouts = new WeakMap<Client, Checkout>();

  constructor(config: PoolConfig & Pick<PrimaryClientConfig, 'session'>) {
    super(config);
    const { max = 10, connectionTimeoutMillis, session } = config;
    const limit = session?.['statement_timeout'];
    this.startLimit = limit === undefined ? undefined : Number(limit);
    this.requests = new ConcurrencyLimiter(ofRequests(max), queueOf(max), connectionTimeoutMillis);
    this.on('release', (_error: Error, client: PoolClient) => {
      this.leases.get(client)?.release();
      this.leases.delete(client);
      const checkout = this.checkouts.get(client);
      if (checkout) checkout.work.databaseBytes += receivedBy(client) - checkout.received;
      this.checkouts.delete(client);
    });
  }

  /** Number of requests that wait for their share, and of work that waits for a connection. */
  get waiting(): number {
    return this.waitingCount + this.requests.pending;
  }

  /** Changes the maximum number of connections. */
  resize(max: number): void {
    this.options.max = max;
    this.requests.resize(ofRequests(max), queueOf(max));
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

  /** A connection beyond the shares, for statements that the process itself depends on. */
  connectAlways(): Promise<PoolClient> {
    return super.connect().then((client) => this.limited(client, undefined));
  }

  private async connection(work: CurrentWork | undefined): Promise<PoolClient> {
    // A request with a transaction ends sooner with a further connection, and would otherwise wait for itself.
    if (!work || work.transactions > 0) return super.connect();
    const lease = await this.lease();
    try {
      const client = await super.connect();
      this.leases.set(client, lease);
      return client;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  private async lease(): Promise<Lease> {
    try {
      return await this.requests.take();
    } catch (error) {
      throw error instanceof QueueFullError ? new DatabaseBusyError() : error;
    }
  }

  /** Sets the time limit of statements, when the connection had other work before. */
  private async limited(client: PoolClient, work: CurrentWork | undefined): Promise<PoolClient> {
    if (work) this.checkouts.set(client, { work, received: receivedBy(client) });
    if (this.startLimit === undefined) return client;
    const limit = !work ? this.startLimit : work.isLong ? TIMEOUTS.longRequest : TIMEOUTS.request;
    if ((this.limits.get(client) ?? this.startLimit) === limit) return client;
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
