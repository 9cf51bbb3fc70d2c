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
    const fence = await connect(databaseUrl);
    try {
      const addresses = await cellAddresses(config, databaseUrl);
      const open = () => connect(databaseUrl);
      if (addresses.length === 0) return new AllSnapshots(await Snapshot.take(open), []);
      return await fenced(fence, addresses, async () => {
        const cells: CellSnapshot[] = [];
        try {
          for (const address of addresses)
            cells.push({ name: address.name, snapshot: await Snapshot.take(() => openCell(address)) });
          return new AllSnapshots(await Snapshot.take(open), cells);
        } catch (error) {
          for (const { snapshot } of cells) await snapshot.close();
          throw error;
        }
      });
    } finally {
      await fence.end();
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

/** Runs `work` while no commit of several databases is in flight or can begin. */
async function fenced<T>(
  fence: pg.Client,
  addresses: readonly CellAddress[],
  work: () => Promise<T>,
): Promise<T> {
  const clients = new Map<string, pg.Client>();
  try {
    for (const address of addresses) clients.set(address.name, await openCell(address));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // A commit of several databases inserts into the first table, a move into the second: both wait for this lock.
      await fence.query('BEGIN; LOCK TABLE commit_decisions, workspace_moves IN SHARE MODE');
      const { rowCount: moves } = await fence.query('SELECT FROM workspace_moves LIMIT 1');
      if (moves)
        throw new BackupError('A workspace is being moved to another cell. Repeat the backup after it.');
      const isQuiet = await becomesQuiet(fence, clients);
      const result = isQuiet ? { value: await work() } : undefined;
      await fence.query('ROLLBACK');
      if (result) return result.value;
    }
    throw new BackupError('Commits of several databases do not end: run `workspace doctor`.');
  } finally {
    for (const client of clients.values()) await client.end();
  }
}

/** @returns whether all decided commits have been carried out in their cells */
async function becomesQuiet(fence: pg.Client, clients: ReadonlyMap<string, pg.Client>): Promise<boolean> {
  const { rows } = await fence.query<{ id: string }>('SELECT id FROM commit_decisions WHERE committed');
  const decided = rows.map(({ id }) => id);
  for (const end = Date.now() + FENCE_MS; Date.now() < end; await delay(POLL_MS)) {
    let left = 0;
    for (const [name, client] of clients) {
      const gids = decided.map((id) => gidOf(name, id));
      left +=
        (await client.query('SELECT FROM pg_prepared_xacts WHERE gid = ANY ($1)', [gids])).rowCount ?? 0;
    }
    if (left === 0) return true;
  }
  return false;
}
