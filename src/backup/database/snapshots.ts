import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type CellAddress, cellAddresses } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { BACKUP_LOCK, ONLY_BACKUP_LOCK } from '../../platform/blobs/blobs.repository.js';
import { openConnection } from '../../platform/database/long-session.js';
import { gidOf } from '../../platform/database/spanning-tx.js';
import { BackupError } from '../reporting.js';

/** Connections of backups and restores have this name in pg_stat_activity. */
export const APPLICATION_NAME = 'backup';

/** Opens a connection without time limits. It fails its next query when it is lost. */
export const connect = async (url: string): Promise<pg.Client> =>
  openConnection({ connectionString: url, application_name: APPLICATION_NAME, keepAlive: true });

/** Until the end of the connection, the collectors of files claim nothing in its database. */
export async function stopCollectors(client: pg.Client): Promise<void> {
  await client.query('SELECT pg_advisory_lock_shared($1, $2)', [BACKUP_LOCK.classId, BACKUP_LOCK.objectId]);
}

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

/** Maximum time for which commits of directory and cell wait for the snapshots: less than their lock timeout. */
const FENCE_MS = 1_500;
const ATTEMPTS = 5;
const POLL_MS = 20;

/** The snapshot of a cell, a database with workspaces other than that of the directory. */
export interface CellSnapshot {
  name: string;
  snapshot: Snapshot;
}

/** One state of all databases of an installation. */
export class AllSnapshots {
  private constructor(
    readonly directory: Snapshot,
    readonly cells: readonly CellSnapshot[],
  ) {}

  /**
   * Takes the snapshots. With cells, commits of several databases wait meanwhile, so that the snapshots contain both parts of a
   * commit or none.
   * @throws BackupError while another backup runs, a workspace is moved, or a cell is unavailable
   */
  static async take(config: Config, databaseUrl: string): Promise<AllSnapshots> {
    const addresses = await cellAddresses(config, databaseUrl);
    const cells: CellSnapshot[] = [];
    const snapshots = new AllSnapshots(await Snapshot.open(() => connect(databaseUrl)), cells);
    try {
      for (const address of addresses)
        cells.push({ name: address.name, snapshot: await Snapshot.open(() => openCell(address)) });
      const take = async () => void (await Promise.all(snapshots.all.map((snapshot) => snapshot.take())));
      await (cells.length === 0 ? take() : fenced(databaseUrl, cells, take));
      return snapshots;
    } catch (error) {
      await snapshots.close();
      throw error;
    }
  }

  /** Ends the snapshots. The locks against collectors stay until `close`. */
  async release(): Promise<void> {
    for (const snapshot of this.all) await snapshot.release();
  }

  async close(): Promise<void> {
    for (const snapshot of this.all) await snapshot.close();
  }

  private get all(): Snapshot[] {
    return [this.directory, ...this.cells.map(({ snapshot }) => snapshot)];
  }
}

const openCell = ({ connection }: CellAddress): Promise<pg.Client> =>
  openConnection({ ...connection, application_name: APPLICATION_NAME, keepAlive: true });

/** Runs `work` while no commit of several databases is in flight or can begin. All connections to the cells are open already. */
async function fenced(
  databaseUrl: string,
  cells: readonly CellSnapshot[],
  work: () => Promise<void>,
): Promise<void> {
  const fence = await connect(databaseUrl);
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // A commit of several databases inserts into the first table, a move into the second: both wait for this lock.
      await fence.query('BEGIN; LOCK TABLE commit_decisions, workspace_moves IN SHARE MODE');
      const { rowCount: moves } = await fence.query('SELECT FROM workspace_moves LIMIT 1');
      if (moves)
        throw new BackupError('A workspace is being moved to another cell. Repeat the backup after it.');
      const isQuiet = await becomesQuiet(fence, cells);
      if (isQuiet) await work();
      await fence.query('ROLLBACK');
      if (isQuiet) return;
    }
    throw new BackupError('Commits of several databases do not end: run `workspace doctor`.');
  } finally {
    await fence.end();
  }
}

/** @returns whether all decided commits have been carried out in their cells */
async function becomesQuiet(fence: pg.Client, cells: readonly CellSnapshot[]): Promise<boolean> {
  const { rows } = await fence.query<{ id: string }>('SELECT id FROM commit_decisions WHERE committed');
  const decided = rows.map(({ id }) => id);
  for (const end = Date.now() + FENCE_MS; Date.now() < end; await delay(POLL_MS)) {
    let left = 0;
    for (const { name, snapshot } of cells) {
      const gids = decided.map((id) => gidOf(name, id));
      const unfinished = await snapshot.present((client) =>
        client.query('SELECT FROM pg_prepared_xacts WHERE gid = ANY ($1)', [gids]),
      );
      left += unfinished.rowCount ?? 0;
    }
    if (left === 0) return true;
  }
  return false;
}
