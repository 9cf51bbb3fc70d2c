import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type CellAddress, cellAddresses } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { openConnection } from '../../platform/database/long-session.js';
import { gidOf } from '../../platform/database/spanning-tx.js';
import { BackupError } from '../backup-error.js';
import { APPLICATION_NAME, connect } from './connection.js';
import { Snapshot } from './snapshot.js';

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
