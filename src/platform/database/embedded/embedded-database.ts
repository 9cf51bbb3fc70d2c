import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Account } from './account.js';
import { type Binaries, locateBinaries } from './binaries.js';
import { ensureCluster, readVersion } from './cluster.js';
import { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';
import { clusterDir, ensureDataDir, ensureSocketDir } from './layout.js';
import { becomeServer, LOCK, tryLock } from './locks.js';
import { type EmbeddedLog, Postmaster } from './postmaster.js';
import type { ServerSettings } from './settings.js';
import { isFormer } from './upgrade/former-programs.js';
import { completeUpgrade, removeRemains } from './upgrade/interrupted-upgrade.js';
export { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';

/** The database of the application. */
export const DATABASE = 'workspace';

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
        if (role === 'server' && !(await becomeServer(client))) throw new DataDirInUseError(dataDir);
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
      if (await tryLock(this.client, LOCK.users)) await this.postmaster.stop();
    } catch {
      // The connection has ended, and its locks with it.
    }
    await this.client.end().catch(() => undefined);
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
  /** Ends an upgrade to another major version, which may take long. */
  signal?: AbortSignal;
}

/** Upgrades a cluster of a former release, for a server; a command might be ended while it takes long. */
async function ensureMajor(
  { role, log, signal = new AbortController().signal }: EmbeddedDatabaseOptions,
  dataDir: string,
  binaries: Binaries,
): Promise<void> {
  await completeUpgrade(dataDir, binaries.major, log);
  const from = await readVersion(clusterDir(dataDir));
  if (from === binaries.major) return removeRemains(dataDir, log);
  if (from === undefined || !isFormer(from)) return;
  if (role === 'tool')
    throw new EmbeddedDatabaseError(
      `The database in ${clusterDir(dataDir)} is of PostgreSQL ${from}: start the server, which upgrades it to ${binaries.major}.`,
    );
  // An ordinary start does not load it.
  const { upgradeCluster } = await import('./upgrade/upgrade-cluster.js');
  await upgradeCluster({ dataDir, directory: DATABASE, from, binaries, log, signal });
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
   * Creates the database on first use, upgrades one of a former release, starts or adopts PostgreSQL, and joins its users.
   * @throws DataDirInUseError another server runs on this directory
   * @throws EmbeddedDatabaseError the database cannot run here; the message gives the reason
   */
  static async open(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
    const { role, log, settings } = options;
    const binaries = await locateBinaries();
    const dataDir = await ensureDataDir(options.dataDir);
    const cluster = clusterDir(dataDir);
    await ensureMajor(options, dataDir, binaries);
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
