import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Account } from './account.js';
import { locateBinaries } from './binaries.js';
import { ensureCluster } from './cluster.js';
import { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';
import { clusterDir, ensureDataDir, ensureSocketDir } from './layout.js';
import { type EmbeddedLog, Postmaster } from './postmaster.js';
import type { ServerSettings } from './settings.js';
export { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';

/** The database of the application. */
export const DATABASE = 'workspace';

/** Advisory locks in the maintenance database, separate from the locks of the application in its own database. */
const LOCK = { server: 1_001, users: 1_002, creation: 1_003 };

/** PostgreSQL releases the locks of a killed server as soon as it notices the closed connection. */
const SERVER_LOCK_TIMEOUT_MS = 1_000;
const POLL_MS = 50;

export type Role = 'server' | 'tool';

/**
 * The use of an instance by one process: a connection with session locks that count the users of this PostgreSQL. The
 * locks end with the process, even if it is killed.
 *
 * `server` is exclusive: one server for a data directory. All processes share `users`; a process that gets it as an
 * exclusive lock when leaving is the last one, and stops PostgreSQL.
 */
export class InstanceSession {
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>;

  private constructor(
    private readonly client: pg.Client,
    private readonly postmaster: Postmaster,
  ) {
    this.ended = new Promise((resolve) => {
      client.once('end', resolve);
    });
  }

  /**
   * Joins the instance, starting PostgreSQL when necessary, and makes sure the application's database exists.
   * @throws DataDirInUseError when the role is `server` and there is one
   */
  static async join(postmaster: Postmaster, role: Role, dataDir: string): Promise<InstanceSession> {
    for (;;) {
      const client = await postmaster.connect();
      const session = new InstanceSession(client, postmaster);
      try {
        await client.query('SELECT pg_advisory_lock_shared($1)', [LOCK.users]);
        if (role === 'server' && !(await session.becomeServer())) throw new DataDirInUseError(dataDir);
        await session.ensureDatabase();
        return session;
      } catch (error) {
        if (await session.isAlive()) {
          await session.leave();
          if (error instanceof DataDirInUseError) throw error;
          throw new EmbeddedDatabaseError(`PostgreSQL rejected the connection: ${String(error)}`, {
            cause: error,
          });
        }
        // The previous user was stopping PostgreSQL: start it again.
        await delay(POLL_MS);
      }
    }
  }

  /** Leaves the instance and stops PostgreSQL when no other process uses it. The promise never rejects. */
  async leave(): Promise<void> {
    try {
      await this.client.query('SELECT pg_advisory_unlock_shared($1)', [LOCK.users]);
      // New users wait for their shared lock meanwhile. The shutdown ends their connection, and they start PostgreSQL again.
      if (await this.tryLock(LOCK.users)) await this.postmaster.stop();
    } catch {
      // The connection has ended, and its locks with it.
    }
    await this.client.end().catch(() => undefined);
  }

  private async becomeServer(): Promise<boolean> {
    const deadline = Date.now() + SERVER_LOCK_TIMEOUT_MS;
    while (!(await this.tryLock(LOCK.server))) {
      if (Date.now() > deadline) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  private async tryLock(key: number): Promise<boolean> {
    const { rows } = await this.client.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS locked',
      [key],
    );
    return rows[0]?.locked === true;
  }

  private async ensureDatabase(): Promise<void> {
    await this.client.query('SELECT pg_advisory_lock($1)', [LOCK.creation]);
    const { rowCount } = await this.client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await this.client.query(`CREATE DATABASE ${DATABASE}`);
    await this.client.query('SELECT pg_advisory_unlock($1)', [LOCK.creation]);
  }

  private async isAlive(): Promise<boolean> {
    return this.client.query('SELECT 1').then(
      () => true,
      () => false,
    );
  }
}

/** How the embedded database is opened. */
export interface EmbeddedDatabaseOptions {
  /** DATA_DIR; created when missing. */
  dataDir: string;
  /** A data directory has one `server`; any number of `tool`s work beside it, or without it. */
  role: Role;
  log: EmbeddedLog;
  /** Settings of PostgreSQL that replace or complete the usual ones: databases of tests need not survive a crash. */
  settings?: ServerSettings;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/**
 * A real PostgreSQL under DATA_DIR, for machines without one. It runs as a separate process that all users of the
 * directory share: the first starts it, later ones (and the next server after a kill -9) adopt it, the last one stops it.
 */
export class EmbeddedDatabase {
  /** The URL gives `pg` the application's database over the private socket. */
  readonly url: string;

  private closing: Promise<void> | undefined;
  private watching: Promise<void> | undefined;
  private readonly closed = new AbortController();

  private constructor(
    private readonly options: EmbeddedDatabaseOptions,
    private readonly postmaster: Postmaster,
    private session: InstanceSession,
  ) {
    this.url = postmaster.url(DATABASE);
  }

  /**
   * Creates the database on first use, starts or adopts PostgreSQL, and joins its users.
   * @throws DataDirInUseError another server runs on this directory
   * @throws EmbeddedDatabaseError the database cannot run here; the message gives the reason
   */
  static async open(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
    const { role, log, settings } = options;
    const binaries = await locateBinaries();
    const dataDir = await ensureDataDir(options.dataDir);
    const cluster = clusterDir(dataDir);
    const account = await Account.choose(dataDir, cluster, binaries);
    if (await ensureCluster(cluster, account, binaries)) log.info(`Created a new database in ${cluster}.`);
    const socketDir = await ensureSocketDir(dataDir, account);
    const postmaster = new Postmaster(dataDir, cluster, socketDir, account, binaries, log, settings);
    const session = await InstanceSession.join(postmaster, role, options.dataDir);
    const database = new EmbeddedDatabase(options, postmaster, session);
    if (role === 'server') database.watching = database.watch();
    return database;
  }

  /** Stops using the database, and stops PostgreSQL when no other process uses it. Further calls change nothing. */
  close(): Promise<void> {
    this.closing ??= this.leave();
    return this.closing;
  }

  private async leave(): Promise<void> {
    this.closed.abort();
    await this.session.leave();
    await this.watching;
  }

  /** Restarts PostgreSQL when it dies; the application's pool reconnects by itself. */
  private async watch(): Promise<void> {
    for (;;) {
      await this.session.ended;
      if (this.closed.signal.aborted) return;
      this.options.log.warn('The connection to the embedded PostgreSQL ended; starting it again.');
      const session = await this.rejoin();
      if (!session) return;
      this.session = session;
      this.options.log.info('The embedded PostgreSQL is back.');
    }
  }

  private async rejoin(): Promise<InstanceSession | undefined> {
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, LAST_RETRY_MS)) {
      try {
        const session = await InstanceSession.join(this.postmaster, 'server', this.options.dataDir);
        if (!this.closed.signal.aborted) return session;
        await session.leave();
        return undefined;
      } catch (error) {
        this.options.log.error(`The embedded PostgreSQL cannot be restarted: ${String(error)}`);
      }
      await delay(pause, undefined, { signal: this.closed.signal }).catch(() => undefined);
      if (this.closed.signal.aborted) return undefined;
    }
  }
}
