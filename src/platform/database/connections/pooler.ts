import type pg from 'pg';
import { PrimaryClient } from './primary-client.js';

/** The mode of the connection pooler in front of PostgreSQL; `none` without one. `transaction`: also the statement mode. */
export type Pooler = 'none' | 'session' | 'transaction';

/** Prepared statements, settings of sessions, LISTEN and session locks need a connection of their own. */
export class PoolerModeError extends Error {
  constructor() {
    super(
      'The connection leads to a pooler in transaction mode. Use session mode (PgBouncer: pool_mode = session), or the address of PostgreSQL.',
    );
    this.name = 'PoolerModeError';
  }
}

/** Enough for a pooler to mix the statements of two clients, also beside other clients. */
const ROUNDS = 5;
const CONNECT_MS = 5_000;

/** Finds out whether connections lead to a pooler, and whether each of them has a connection to the server of its own. */
export async function poolerOf(url: string): Promise<Pooler> {
  const clients = [1, 2].map(
    () => new PrimaryClient({ connectionString: url, connectionTimeoutMillis: CONNECT_MS }),
  );
  for (const client of clients) client.on('error', () => undefined);
  try {
    for (const client of clients) await client.connect();
    const seen = clients.map(() => new Set<number>());
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [n, client] of clients.entries()) seen[n]!.add(await backendOf(client));
    const [one, two] = seen as [Set<number>, Set<number>];
    if (one.size > 1 || two.size > 1 || [...one].some((pid) => two.has(pid))) return 'transaction';
    // PostgreSQL names its process at the start of a connection; a pooler has to name something else.
    return one.has((clients[0] as unknown as { processID: number }).processID) ? 'none' : 'session';
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

/** The process of the server that runs the statement. */
async function backendOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}

/** @throws PoolerModeError */
export async function rejectTransactionMode(url: string): Promise<void> {
  if ((await poolerOf(url)) === 'transaction') throw new PoolerModeError();
}
