import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg, { type ClientBase } from 'pg';
import { currentWork, forProcess } from '../../current-work/current-work.js';
import { ConcurrencyLimiter } from '../../workers/concurrency-limiter.js';
import { receivedBy } from '../connections/fair-pool.js';
import type { SessionSettings } from '../connections/session-client.js';
import { TIMEOUTS } from '../connections/timeouts.js';
import { isConnectionError, leavesConnection } from '../database-errors.js';
import { runOn } from '../run-on.js';
import type { Statement } from '../statement.js';
import type { Position, Positions } from './positions.js';
import { checkStandby } from './standby-check.js';
import { type Identity, NoReplicaError, ReplicaClient } from './replica-client.js';

/** Time that a read waits for a standby that has not replayed its position yet, milliseconds. */
const WAIT_MS = 20;
const FIRST_PAUSE_MS = 1;
/** Time for a new connection, and for the response of a check. A server without a response is left at once. */
const RESPONSE_MS = 1_000;
/** Time between two probes of a usable replica. */
const PROBE_MS = 1_000;
/** Times between two probes of an unusable one. */
const RETRY_MS = { first: 100, last: 5_000 };
/** A replica that was usable for this time is probed soon after it has become unusable. */
const STABLE_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * - `usable`
 * - `behind`: it had not replayed the position of a read in time
 * - `lost`: it does not respond, or has not responded yet
 * - `refused`: it is no standby of the primary
 */
export const REPLICA_STATES = ['usable', 'behind', 'lost', 'refused'] as const;

export type ReplicaState = (typeof REPLICA_STATES)[number];

/** How a replica is reached. */
export interface ReplicaOptions {
  url: string;
  session: SessionSettings;
  /** Connections for reads. */
  max: number;
  positions: Positions;
  /** Reads the identity of the primary. */
  identity: () => Promise<Identity>;
}

/** Reason why a read was not run on a replica. */
export type Miss = 'behind' | 'failed' | 'busy';

/** A standby that serves reads. No method throws: a read that it cannot serve runs on the primary. */
export class Replica {
  /** Host and port, without user and password. */
  readonly name: string;
  state: ReplicaState = 'lost';
  /** Bytes of WAL that it had not replayed at the last probe. */
  behindBytes = 0;
  /** Why it is lost or refused. The log has it. */
  reason: string | undefined;
  private readonly logger = new Logger(Replica.name);
  private readonly places: ConcurrencyLimiter;
  private pool: pg.Pool | undefined;
  private readonly busyClients = new Set<pg.PoolClient>();
  private probing: pg.Client | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private retryMs = RETRY_MS.first;
  private usableSince = -Infinity;
  private closed = false;

  constructor(private readonly options: ReplicaOptions) {
    const { host, port } = new pg.Client({ connectionString: options.url });
    this.name = `${host}:${port}`;
    this.places = new ConcurrencyLimiter(options.max, 0);
  }

  get isUsable(): boolean {
    return this.state === 'usable';
  }

  /** Reads that are running. */
  get busy(): number {
    return this.places.active;
  }

  /** Begins to probe the server: at once, then repeatedly. */
  start(): void {
    this.schedule(0);
  }

  /**
   * Runs a statement once the standby has replayed `position`.
   * @returns its rows, or why it must run on the primary
   */
  async read<Row>(
    statement: Statement<Row>,
    values: readonly unknown[],
    position: Position,
  ): Promise<Row[] | Miss> {
    const place = this.places.takeShare();
    if (!place) return 'busy';
    const { pool } = this;
    try {
      if (!pool || !this.isUsable) return 'behind';
      return await this.readOn(await pool.connect(), statement, values, position);
    } catch (error) {
      // The reads that were running at a loss fail after it.
      if (pool === this.pool && (error instanceof NoReplicaError || isConnectionError(error)))
        this.lose(error);
      return 'failed';
    } finally {
      place.release();
    }
  }

  /** Ends the connections, after the running reads. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.running;
    await Promise.all([this.probing?.end().catch(() => undefined), this.pool?.end()]);
  }

  private async readOn<Row>(
    client: pg.PoolClient,
    statement: Statement<Row>,
    values: readonly unknown[],
    position: Position,
  ): Promise<Row[] | Miss> {
    const work = currentWork();
    const limit = !work ? TIMEOUTS.statement : work.isLong ? TIMEOUTS.longRequest : TIMEOUTS.request;
    const received = receivedBy(client);
    this.busyClients.add(client);
    let isUsable = false;
    try {
      const isReached = await this.reaches(client, position, limit);
      if (!isReached) this.fallBehind();
      const result = isReached ? await runOn(client, statement, values, limit + TIMEOUTS.response) : 'behind';
      isUsable = true;
      return result;
    } catch (error) {
      isUsable = leavesConnection(error);
      throw error;
    } finally {
      this.busyClients.delete(client);
      if (work) work.databaseBytes += receivedBy(client) - received;
      client.release(!isUsable);
    }
  }

  /**
   * Asks for the replayed position, for `WAIT_MS` at most.
   * @param limit of the next statements, milliseconds
   * @throws NoReplicaError, or the error of the server
   */
  private async reaches(client: ClientBase, position: Position, limit: number): Promise<boolean> {
    const deadline = performance.now() + WAIT_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
      const found = await checkStandby(client, position, limit, RESPONSE_MS);
      this.behindBytes = found.behind;
      if (found.reached && found.follows) return true;
      if (!found.follows || performance.now() + pause > deadline) return false;
      await delay(pause);
    }
  }

  /** Reads of other callers run on the primary until a probe finds that the standby has caught up. */
  private fallBehind(): void {
    if (this.isUsable) this.leaveUsable('behind');
  }

  private lose(error: unknown): void {
    const isRefused = error instanceof NoReplicaError;
    const { message } = error as Error;
    if (this.reason !== message) this.logger.warn(`Reads do not use the replica ${this.name}: ${message}`);
    this.reason = message;
    this.dropConnections();
    const state = isRefused ? 'refused' : 'lost';
    if (this.isUsable) this.leaveUsable(state);
    else this.state = state;
  }

  /** A replica that was usable only for a short time is probed less often. */
  private leaveUsable(state: ReplicaState): void {
    this.state = state;
    if (performance.now() - this.usableSince > STABLE_MS) this.retryMs = RETRY_MS.first;
    else this.lengthenRetry();
    if (!this.running) this.schedule(this.retryMs);
  }

  private lengthenRetry(): void {
    this.retryMs = Math.min(this.retryMs * 2, RETRY_MS.last);
  }

  /** Ends all connections at once: reads that wait for a server without a response run on the primary. */
  private dropConnections(): void {
    const { pool, probing } = this;
    this.pool = this.probing = undefined;
    probing?.end().catch(() => undefined);
    void pool?.end();
    for (const client of this.busyClients) destroy(client);
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    if (this.closed) return;
    this.timer = setTimeout(() => {
      this.running = forProcess(() => this.probe()).finally(() => {
        this.running = undefined;
        this.schedule(this.isUsable ? PROBE_MS : this.retryMs);
      });
    }, ms).unref();
  }

  private async probe(): Promise<void> {
    const position = await this.options.positions.current().catch(() => undefined);
    // Nothing is known of a replica without its primary, where all reads fail.
    if (!position) return;
    try {
      this.probing ??= await this.open();
      if (await this.reaches(this.probing, position, TIMEOUTS.request)) this.recover();
      else if (this.isUsable) this.leaveUsable('behind');
      else this.stayBehind();
    } catch (error) {
      this.lose(error);
      this.lengthenRetry();
    }
  }

  private recover(): void {
    if (this.isUsable) return;
    this.usableSince = performance.now();
    this.state = 'usable';
    if (this.reason !== undefined) this.logger.log(`Reads use the replica ${this.name} again.`);
    this.reason = undefined;
  }

  private stayBehind(): void {
    this.state = 'behind';
    this.lengthenRetry();
  }

  /** Opens the connection of probes and, if there is none, the pool of reads, which opens its own by need. */
  private async open(): Promise<pg.Client> {
    const { url, session, max } = this.options;
    const config = {
      connectionString: url,
      session,
      identity: await this.options.identity(),
      keepAlive: true,
      connectionTimeoutMillis: RESPONSE_MS,
    };
    const client = new ReplicaClient({ ...config, application_name: 'workspace replica probe' });
    client.on('error', ignore);
    await client.connect();
    this.pool ??= new pg.Pool({
      ...config,
      Client: ReplicaClient,
      application_name: 'workspace replica reads',
      max,
      idleTimeoutMillis: IDLE_MS,
    } as unknown as pg.PoolConfig)
      .on('error', ignore)
      .on('connect', (opened) => opened.on('error', ignore));
    return client;
  }
}

/** The statement that is running fails with the same error; a connection without one is replaced. */
const ignore = (): void => undefined;

const destroy = (client: ClientBase): void => {
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
};
