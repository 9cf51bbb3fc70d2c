import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/**
 * Advisory locks in the maintenance database, separate from the locks of the application in its own database. One process has
 * `server`, all share `users`; `creation` is held while the database of the application is created.
 */
export const LOCK = { server: 1_001, users: 1_002, creation: 1_003 };

/** PostgreSQL releases the locks of a killed server as soon as it notices the closed connection. */
const SERVER_TIMEOUT_MS = 1_000;
const POLL_MS = 50;

/** Takes a lock for the session. @returns false while others hold it, after `waitMs` */
export async function tryLock(client: pg.Client, key: number, waitMs = 0): Promise<boolean> {
  for (const deadline = Date.now() + waitMs; ; await delay(POLL_MS)) {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      key,
    ]);
    if (rows[0]?.locked === true) return true;
    if (Date.now() >= deadline) return false;
  }
}

/** @returns false when another process is the server of the data directory */
export const becomeServer = (client: pg.Client): Promise<boolean> =>
  tryLock(client, LOCK.server, SERVER_TIMEOUT_MS);
