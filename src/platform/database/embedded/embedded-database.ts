import { setTimeout as delay } from 'node:timers/promises';
import { Account } from './account.js';
import { locateBinaries } from './binaries.js';
import { ensureCluster } from './cluster.js';
import { DATABASE, InstanceSession, type Role } from './instance-session.js';
import { clusterDir, ensureDataDir, ensureSocketDir } from './layout.js';
import { type EmbeddedLog, Postmaster } from './postmaster.js';
import type { ServerSettings } from './settings.js';

export { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';

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
  /** For `pg`: the application's database over the private socket. */
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
