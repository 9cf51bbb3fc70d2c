import type { Client } from 'pg';

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
