import type pg from 'pg';
import { ONLY_BACKUP_LOCK } from '../../platform/blobs/backup-lock.js';
import { BackupError } from '../backup-error.js';
import { stopCollectors } from './connection.js';

const ROWS_AT_ONCE = 1_000;

/**
 * One state of the database. The transaction that holds it reads catalogs only. Each table is copied in a transaction of its
 * own on a second connection, so that a lock on a table lasts no longer than its copy.
 */
export class Snapshot {
  private name = '';
  private time = new Date(0);

  private constructor(
    private readonly holder: pg.Client,
    private readonly reader: pg.Client,
  ) {}

  /**
   * Opens the connections and locks the files of the database against collectors. `take` follows.
   * @param open opens a connection to it
   */
  static async open(open: () => Promise<pg.Client>): Promise<Snapshot> {
    const holder = await open();
    try {
      await stopCollectors(holder);
      return new Snapshot(holder, await open());
    } catch (error) {
      await holder.end();
      throw error;
    }
  }

  async take(): Promise<void> {
    await this.holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await this.holder.query<{ name: string; at: Date }>(
      'SELECT pg_export_snapshot() AS name, now() AS at',
    );
    const { name, at } = rows[0] as { name: string; at: Date };
    this.name = name;
    this.time = at;
  }

  /** Time of the state. */
  get takenAt(): Date {
    return this.time;
  }

  /** Prevents other backups of the installation until `close`. @throws BackupError while another one runs */
  async excludeOtherBackups(): Promise<void> {
    const { rows } = await this.holder.query<{ locked: boolean }>(
      'SELECT pg_try_advisory_lock($1, $2) AS locked',
      [ONLY_BACKUP_LOCK.classId, ONLY_BACKUP_LOCK.objectId],
    );
    if (!rows[0]?.locked) throw new BackupError('Another backup of this installation is running.');
  }

  /** Runs `work` in the state of the snapshot. It must end its queries before it returns. */
  async read<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    await this.reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await this.reader.query(`SET TRANSACTION SNAPSHOT '${this.name}'`);
    const result = await work(this.reader);
    await this.reader.query('COMMIT');
    return result;
  }

  /** Ends the snapshot. The lock against collectors stays until `close`. */
  async release(): Promise<void> {
    await this.holder.query('COMMIT');
  }

  /** Runs `work` in the present state, on the connection with the lock: it fails when the lock was lost. */
  async present<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return work(this.holder);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.reader.end(), this.holder.end()]);
  }
}

/** The rows of a query, in portions. Call it within `Snapshot.read`. @param schema the search path; null: that of the connection */
export async function* rowsInPortions(
  client: pg.Client,
  schema: string | null,
  sql: string,
): AsyncGenerator<Record<string, string>> {
  if (schema !== null) await client.query(`SELECT set_config('search_path', $1, true)`, [schema]);
  await client.query(`DECLARE portions NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const { rows } = await client.query<Record<string, string>>(`FETCH ${ROWS_AT_ONCE} FROM portions`);
    yield* rows;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await client.query('CLOSE portions');
}
