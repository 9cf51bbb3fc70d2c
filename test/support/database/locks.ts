import pg from 'pg';
import { until } from '../until.ts';

/**
 * The server processes that wait for a lock in the database of `client`, which may be in a transaction: there PostgreSQL
 * repeats the first snapshot of its activity until that is cleared.
 */
export async function lockWaits(client: pg.Client): Promise<{ pid: number }[]> {
  await client.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()`,
  );
  return rows;
}

/** Waits until `count` server processes or more wait for a lock. @returns them */
export const lockWaiters = (client: pg.Client, count = 1): Promise<{ pid: number }[]> =>
  until(`${count} waits for a lock`, async () => {
    const waiting = await lockWaits(client);
    return waiting.length >= count && waiting;
  });

/** Runs `work` in a transaction of a connection of its own, which is rolled back unless `work` commits it. */
export async function inTransaction<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    return await work(client);
  } finally {
    await client.end();
  }
}

interface WhileWaiting {
  /** Number of requests that wait. */
  waits?: number;
  /** Runs in the other transaction while they wait. */
  meanwhile?: (other: pg.Client) => Promise<unknown>;
}

/**
 * Sends requests that wait for another transaction, which commits then.
 * @param url of the database
 * @param change locks what the requests need
 * @returns the result of `send`
 */
export const afterChange = <T>(
  url: string,
  change: (other: pg.Client) => Promise<unknown>,
  send: () => Promise<T>,
  { waits, meanwhile }: WhileWaiting = {},
): Promise<T> =>
  inTransaction(url, async (other) => {
    await change(other);
    const sent = send();
    await lockWaiters(other, waits);
    await meanwhile?.(other);
    await other.query('COMMIT');
    return sent;
  });
