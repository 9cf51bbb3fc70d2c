import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { DataDirInUseError, EmbeddedDatabaseError } from './errors.js';
import type { Postmaster } from './postmaster.js';

/** The database of the application. */
export const DATABASE = 'workspace';

/** Advisory locks of the maintenance database; the application's own are in another database and never meet these. */
const LOCK = { server: 1_001, users: 1_002, creation: 1_003 };

/** A killed server's locks vanish as soon as PostgreSQL notices that its connection is gone. */
const SERVER_LOCK_PATIENCE_MS = 1_000;
const POLL_MS = 50;

export type Role = 'server' | 'tool';

/**
 * One process's membership in an instance: a connection whose session locks say who uses this PostgreSQL. They vanish
 * with the process, however it ends, so nothing is ever left to clean up.
 *
 * `server` is exclusive: one server for a data directory. `users` is shared by everybody; whoever can turn it into an
 * exclusive lock when leaving is the last one out, and stops PostgreSQL.
 */
export class InstanceSession {
  /** Resolves when the connection has ended, for whatever reason. */
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
          throw new EmbeddedDatabaseError(`PostgreSQL refused: ${String(error)}`, { cause: error });
        }
        // The last user before us was just stopping PostgreSQL: start it again.
        await delay(POLL_MS);
      }
    }
  }

  /** Leaves the instance and stops PostgreSQL when nobody else is using it. Never rejects. */
  async leave(): Promise<void> {
    try {
      await this.client.query('SELECT pg_advisory_unlock_shared($1)', [LOCK.users]);
      // While we hold this, newcomers wait for their share; the shutdown ends their wait and they start PostgreSQL anew.
      if (await this.tryLock(LOCK.users)) await this.postmaster.stop();
    } catch {
      // The connection is gone, and the locks with it.
    }
    await this.client.end().catch(() => undefined);
  }

  private async becomeServer(): Promise<boolean> {
    const deadline = Date.now() + SERVER_LOCK_PATIENCE_MS;
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
