import type pg from 'pg';
import type { SessionConfig } from '../../connections/session-client.js';
import { openConnection } from '../../long-session.js';
import { commitOf, GID_PREFIX, gidOf } from '../../spanning-tx.js';
import type { RunningCluster } from './copy-cluster.js';

const PREPARED = 'SELECT gid, database FROM pg_prepared_xacts ORDER BY prepared';

/** Cells of the directory, with the decisions about commits in several databases. */
interface Directory {
  cells: string[];
  committed: string[];
}

/**
 * Finishes transactions in several databases whose process ended between the phases of their commit, as `UnfinishedCommits` does:
 * no copy has prepared transactions. No other process uses the cluster, so a missing decision cannot follow.
 * @param connection gives the address of a database
 * @param directory the database of the directory
 * @throws Error for transactions of other applications
 */
export async function finishCommits(
  connection: RunningCluster['connection'],
  directory: string,
): Promise<void> {
  const { rows } = await withClient(connection('postgres'), (client) =>
    client.query<{ gid: string; database: string }>(PREPARED),
  );
  if (rows.length === 0) return;
  const { cells, committed } = await withClient(connection(directory), readDirectory);
  for (const { gid, database } of rows) {
    const id = commitOf(gid);
    if (!gid.startsWith(GID_PREFIX) || !cells.some((cell) => gid === gidOf(cell, id)))
      throw new Error(
        `The database ${database} has the prepared transaction ${gid} of another application: commit it or roll it back.`,
      );
    await withClient(connection(database), async (client) => {
      await client.query('SET default_transaction_read_only = off');
      const verb = committed.includes(id) ? 'COMMIT' : 'ROLLBACK';
      await client.query(`${verb} PREPARED ${client.escapeLiteral(gid)}`);
    });
  }
}

async function readDirectory(client: pg.Client): Promise<Directory> {
  const { rows } = await client.query<Directory>(
    `SELECT ARRAY(SELECT name FROM cells) AS cells,
            ARRAY(SELECT id::text FROM commit_decisions WHERE committed) AS committed`,
  );
  return rows[0]!;
}

async function withClient<T>(database: SessionConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openConnection({ ...database, application_name: 'upgrade' });
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
