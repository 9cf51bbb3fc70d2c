import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';
import type { Postmaster } from './postmaster.js';

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

  /** Leaves the instance and stops PostgreSQL when no other process uses it. Never rejects. */
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
