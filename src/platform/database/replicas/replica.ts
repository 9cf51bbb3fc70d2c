import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import pg, { type ClientBase } from 'pg';
import { LateError, awaitWithin } from '../../../lib/turns/index.js';
import { currentUse, currentWork, forProcess, USES } from '../../current-work/current-work.js';
import { ConcurrencyLimiter } from '../../workers/concurrency-limiter.js';
import { destroy, receivedBy, type Shares, sumOf } from '../connections/fair-pool.js';
import type { SessionSettings } from '../connections/session-client.js';
import { limitOf, TIMEOUTS } from '../connections/timeouts.js';
import { errorCode, isConnectionError, isStatementTimeout, leavesConnection } from '../database-errors.js';
import { checkStandby, type Identity, NoReplicaError, type Position, ReplicaClient } from './standby.js';

/** Time that a read waits for a standby that has not replayed its position yet, milliseconds. */
const WAIT_MS = 20;
const FIRST_PAUSE_MS = 1;
/** Time for a new connection, and for the response of a check. */
export const RESPONSE_MS = 1_000;
const IDLE_MS = 30_000;
/** Milliseconds between two probes of an unused replica of a cell: long enough for the idle connections of its primary to close. */
const RESTING_MS = 60_000;

/**
 * - `usable`
 * - `behind`: it had not replayed the position of a read in time
 * - `lost`: it does not respond, or has not responded yet
 * - `primary`: it is the primary itself, until the next fail-over
 * - `refused`: the server is not a standby of the primary, and the process rejects it
 */
export const REPLICA_STATES = ['usable', 'behind', 'lost', 'primary', 'refused'] as const;

export type ReplicaState = (typeof REPLICA_STATES)[number];

/** Time until the next probe, milliseconds. */
const PROBE_MS: Readonly<Record<ReplicaState, number>> = {
  usable: 1_000,
  behind: 250,
  lost: 1_000,
  primary: 5_000,
  refused: 5_000,
};

/** How a replica is reached. */
export interface ReplicaOptions {
  url: string;
  /** The cell; undefined: the database of DATABASE_URL. */
  cell: string | undefined;
  session: SessionSettings;
  /** Connections for reads. */
  shares: Shares;
  /** Asks the primary. */
  position: () => Promise<Position>;
  identity: () => Promise<Identity>;
}

/** Reason why a read was not run on a replica. */
export type Miss = 'behind' | 'failed' | 'busy';

/** Reads on a connection of a standby. @param limit time limit of each statement, milliseconds */
export type ReplicaWork<T> = (client: ClientBase, limit: number) => Promise<T>;

/** A standby that serves reads. Probes decide about its use; a read that fails there only asks for one. */
export class Replica {
  /** Host and port, without user and password. */
  readonly name: string;
  state: ReplicaState = 'lost';
  /** Bytes of WAL that it had not replayed when it was asked last. */
  behindBytes = 0;
  /** The error that explains the states `lost`, `primary` and `refused`. The log has it too. */
  reason: string | undefined;
  private readonly logger = new Logger(Replica.name);
  private shares: Shares;
  private readonly places: Readonly<Record<keyof Shares, ConcurrencyLimiter>>;
  /** The connections of reads, while the replica is usable or behind. It opens them by need. */
  private pool: pg.Pool | undefined;
  /** The open connections of the pool. */
  private readonly clients = new Set<ClientBase>();
  private prober: ReplicaClient | undefined;
  /** The identity with which the open connections were compared. */
  private identity: Identity | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private closed = false;
  /** Whether a read was asked for since the last probe. */
  private isWanted = false;
  /** Whether the next probe is that of a replica that nobody reads. */
  private isResting = false;

  constructor(private readonly options: ReplicaOptions) {
    const { host, port } = new pg.Client({ connectionString: options.url });
    this.name = `${host}:${port}`;
    this.shares = options.shares;
    const { requests, jobs, process } = this.shares;
    this.places = {
      requests: new ConcurrencyLimiter(requests, 0),
      jobs: new ConcurrencyLimiter(jobs, 0),
      process: new ConcurrencyLimiter(process, 0),
    };
  }

  get isUsable(): boolean {
    return this.state === 'usable' && !this.closed;
  }

  /** Reads that are running. */
  get busy(): number {
    return USES.reduce((sum, use) => sum + this.places[use].active, 0);
  }

  /** Changes the number of connections. Excess ones close when they are idle for long. */
  resize(shares: Shares): void {
    this.shares = shares;
    for (const use of USES) this.places[use].resize(shares[use], 0);
    if (this.pool) this.pool.options.max = sumOf(shares);
  }

  /** Called before each read of its database, which may run here or not: the state has to be a recent one. */
  expectReads(): void {
    this.isWanted = true;
    if (this.isResting) this.schedule(0);
  }

  /** Begins to probe the server: at once, then repeatedly. */
  start(): void {
    this.schedule(0);
  }

  /**
   * Runs `work` once the standby has replayed `position`.
   * @returns its result, or why it must run on the primary
   * @throws the error of a statement that has reached its time limit: the primary would need as long
   */
  async read<T>(work: ReplicaWork<T>, position: Position): Promise<{ value: T } | Miss> {
    const place = this.places[currentUse()].takeShare();
    if (!place) return 'busy';
    const { pool } = this;
    try {
      if (!pool || !this.isUsable) return 'behind';
      return await this.readOn(await pool.connect(), work, position);
    } catch (error) {
      if (isStatementTimeout(error)) throw error;
      // too_many_connections: the open ones go on.
      if (errorCode(error) === '53300') return 'busy';
      // The reads that were running at a loss fail after it.
      if (pool === this.pool) this.doubt(error);
      return 'failed';
    } finally {
      place.release();
    }
  }

  /** Ends the connections. Running reads have `RESPONSE_MS` left; after that they fail, and run on the primary. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    if (this.prober) destroy(this.prober);
    const { pool, clients } = this;
    this.pool = undefined;
    const rest = setTimeout(() => clients.forEach(destroy), RESPONSE_MS);
    await Promise.all([this.running, pool?.end()]);
    clearTimeout(rest);
  }

  private async readOn<T>(
    client: pg.PoolClient,
    read: ReplicaWork<T>,
    position: Position,
  ): Promise<{ value: T } | Miss> {
    const work = currentWork();
    const limit = work ? limitOf(work) : TIMEOUTS.statement;
    const received = receivedBy(client);
    let isUsable = false;
    try {
      const isReached = await this.reaches(client, position, limit);
      // Reads of other callers run on the primary until a probe finds that the standby has caught up.
      if (!isReached && this.isUsable) this.enter('behind');
      const result = isReached ? { value: await read(client, limit) } : 'behind';
      isUsable = true;
      return result;
    } catch (error) {
      isUsable = leavesConnection(error);
      throw error;
    } finally {
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

  /** After the error of a read: only a wrong server is left at once, because others may be the fault of one connection. */
  private doubt(error: unknown): void {
    if (error instanceof NoReplicaError) this.leave(error);
    else if ((error instanceof LateError || isConnectionError(error)) && !this.running) this.schedule(0);
  }

  /** Ends all connections at once: reads that wait for a server without a response run on the primary. */
  private leave(failure: unknown): void {
    if (this.closed) return;
    const { pool, prober } = this;
    this.pool = this.prober = this.identity = undefined;
    void pool?.end();
    if (prober) destroy(prober);
    this.clients.forEach(destroy);
    this.enter(failure instanceof NoReplicaError ? failure.state : 'lost', (failure as Error).message);
  }

  private enter(state: ReplicaState, reason?: string): void {
    if (this.closed) return;
    const { cell } = this.options;
    const replica = `the replica ${this.name}${cell === undefined ? '' : ` of the cell "${cell}"`}`;
    if (reason !== this.reason && reason === undefined) this.logger.log(`Reads use ${replica} again.`);
    else if (reason !== this.reason)
      this.logger[state === 'primary' ? 'log' : 'warn'](`Reads do not use ${replica}: ${reason}`);
    this.state = state;
    this.reason = reason;
    if (!this.running) this.schedule(PROBE_MS[state]);
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.isResting = false;
    if (this.closed) return;
    this.timer = setTimeout(() => {
      this.running = forProcess(() => this.probe()).finally(() => {
        this.running = undefined;
        this.scheduleNext();
      });
    }, ms).unref();
  }

  private scheduleNext(): void {
    const rests = this.options.cell !== undefined && !this.isWanted && this.busy === 0;
    this.schedule(rests ? RESTING_MS : PROBE_MS[this.state]);
    this.isWanted = false;
    this.isResting = rests;
  }

  private async probe(): Promise<void> {
    let position: Position;
    let identity: Identity;
    try {
      position = await this.options.position();
      identity = this.identity ??= await this.options.identity();
    } catch {
      // Nothing is known of a replica without its primary, where all reads fail.
      return;
    }
    if (this.closed) return;
    try {
      const isReached = await this.probeFor(position, identity);
      this.pool ??= this.openPool(identity);
      if (isReached) this.enter('usable');
      else this.enter('behind', this.reason);
    } catch (error) {
      this.leave(error);
    }
  }

  /**
   * The end of the connection of probes alone, as by a firewall, is no loss: the server decides, by another connection.
   * @throws as `reaches`
   */
  private async probeFor(position: Position, identity: Identity): Promise<boolean> {
    const { prober } = this;
    if (prober)
      try {
        return await this.reaches(prober, position, TIMEOUTS.request);
      } catch (error) {
        if (this.closed || !isConnectionError(error)) throw error;
        destroy(prober);
      }
    return this.reaches(await this.open(identity), position, TIMEOUTS.request);
  }

  /** Opens the connection of probes. */
  private async open(identity: Identity): Promise<ReplicaClient> {
    const client = new ReplicaClient({
      ...this.config(identity),
      application_name: 'workspace replica probe',
    });
    this.prober = client;
    await awaitWithin(RESPONSE_MS, client.connect());
    return client;
  }

  private openPool(identity: Identity): pg.Pool {
    const { clients } = this;
    return new pg.Pool({
      ...this.config(identity),
      Client: ReplicaClient,
      application_name: 'workspace replica reads',
      max: sumOf(this.shares),
      connectionTimeoutMillis: RESPONSE_MS,
      idleTimeoutMillis: IDLE_MS,
    } as unknown as pg.PoolConfig)
      .on('connect', (client) => clients.add(client))
      .on('remove', (client) => clients.delete(client))
      .on('error', () => undefined);
  }

  private config(identity: Identity): ConstructorParameters<typeof ReplicaClient>[0] {
    const { url, session, cell } = this.options;
    return { connectionString: url, session, identity, cell, keepAlive: true };
  }
}
