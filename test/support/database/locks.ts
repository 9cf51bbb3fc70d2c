import pg, { type Client } from 'pg';
import { until } from '../until.ts';

/**
 * The server processes that wait for a lock in the database of `client`, which may be in a transaction: there PostgreSQL
 * repeats the first snapshot of its activity until that is cleared.
 */
export async function lockWaits(client: Client): Promise<{ pid: number }[]> {
  await client.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`,
  );
  return rows;
}

/** The result of a request that waits for another change, which commits meanwhile. */
export async function afterChange<Result>(
  connectionString: string,
  change: (other: Client) => Promise<unknown>,
  send: () => Promise<Result>,
): Promise<Result> {
  const other = new pg.Client({ connectionString });
  await other.connect();
  try {
    await other.query('BEGIN');
    await change(other);
    const sent = send();
    await until('the request to wait for the other change', async () => (await lockWaits(other))[0]);
    await other.query('COMMIT');
    return await sent;
  } finally {
    await other.end();
  }
}
