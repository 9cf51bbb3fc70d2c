import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { withModules } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { Cells } from '../../platform/cells/cells.js';
import { workspaceTableNames } from '../../platform/cells/move/moved-table.js';
import { Db, MAIN } from '../../platform/database/db.js';
import { openConnection } from '../../platform/database/long-session.js';
import { gidOf } from '../../platform/database/spanning-tx.js';
import { schema } from '../../schema.js';
import { BackupError } from '../backup-error.js';
import { APPLICATION_NAME, connect } from './connection.js';
import { Snapshot } from './snapshot.js';

/** How long commits of directory and cell wait for the snapshots: less than the time limit of their locks. */
const FENCE_MS = 1_500;
const ATTEMPTS = 5;
const POLL_MS = 20;

/** The state of a database with workspaces besides that of the directory. */
export interface CellSnapshot {
  name: string;
  snapshot: Snapshot;
  /** Names of the tables of workspaces. */
  tables: readonly string[];
}

/** One state of all databases of an installation. */
export class AllSnapshots {
  private constructor(
    readonly directory: Snapshot,
    readonly cells: readonly CellSnapshot[],
  ) {}

  /**
   * Takes the snapshots. With cells, commits of directory and cell wait for a moment, so that the snapshots have both parts of
   * each, or none.
   * @throws BackupError while another backup runs, a workspace is moved, or a cell is unavailable
   */
  static async take(config: Config, databaseUrl: string): Promise<AllSnapshots> {
    const fence = await connect(databaseUrl);
    try {
      const { addresses, tables } = (await hasCells(fence))
        ? await cellsOf(config, databaseUrl)
        : { addresses: [], tables: [] };
      const open = () => connect(databaseUrl);
      if (addresses.length === 0) return new AllSnapshots(await Snapshot.take(open), []);
      return await fenced(fence, addresses, async () => {
        const cells: CellSnapshot[] = [];
        try {
          for (const { name, config: address } of addresses)
            cells.push({ name, tables, snapshot: await Snapshot.take(() => openConnection(address)) });
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

interface CellAddress {
  name: string;
  config: pg.ClientConfig;
}

async function hasCells(client: pg.Client): Promise<boolean> {
  const { rows: known } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('cells') IS NOT NULL AS exists`,
  );
  if (!known[0]?.exists) return false;
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM cells');
  return (rows[0]?.count ?? 0) > 1;
}

/** Addresses of the cells besides that of the directory: they are encrypted. */
async function cellsOf(
  config: Config,
  databaseUrl: string,
): Promise<{ addresses: CellAddress[]; tables: string[] }> {
  return withModules(config, databaseUrl, 'silent', async (app) => {
    const cells = app.get(Cells, { strict: false });
    const addresses = cells.cells
      .filter((name) => name !== MAIN)
      .map((name) => {
        const { url, schema: namespace } = cells.urlOf(name);
        return {
          name,
          config: {
            connectionString: url,
            application_name: APPLICATION_NAME,
            keepAlive: true,
            ...(namespace !== undefined && { options: `-c search_path=${namespace},ext` }),
          },
        };
      });
    return { addresses, tables: workspaceTableNames(app.get(Db, { strict: false }).dataSource, schema) };
  });
}

/** Runs `work` while no commit of several databases is under way, and none begins. */
async function fenced<T>(
  fence: pg.Client,
  addresses: readonly CellAddress[],
  work: () => Promise<T>,
): Promise<T> {
  const clients = new Map<string, pg.Client>();
  try {
    for (const { name, config } of addresses) clients.set(name, await openConnection(config));
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      // A commit of several databases writes its decision; a move writes its row.
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
