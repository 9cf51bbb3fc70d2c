import type pg from 'pg';
import type { Database } from './database.js';
import { PrimaryClient } from './connections/primary-client.js';
import type { SessionConfig } from './connections/session-client.js';
import type { Statement } from './statement.js';
import type { Tx } from './tx.js';

/** Limits that a server, a role or the pool may set and that long work exceeds. */
const LIMITS = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
  'transaction_timeout',
];

/** Opens a connection without time limits. If it is lost, its next query fails. */
export async function openConnection(config: SessionConfig): Promise<pg.Client> {
  const client = new PrimaryClient(config);
  // Without a listener, the loss of an idle connection ends the process.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`SELECT set_config(name, '0', false) FROM pg_settings WHERE name = ANY ($1)`, [LIMITS]);
  return client;
}

/**
 * Opens a connection outside the pool to a database that the process has opened, without time limits.
 * @param name of the connection in pg_stat_activity
 */
export async function openSession({ pool: { options } }: Database, name: string): Promise<pg.Client> {
  // The pool hides its password from copies.
  const { password } = options;
  const { query_timeout: _, ...config } = options;
  return openConnection({ ...config, password, application_name: name });
}

/**
 * Lets a connection copy rows unchanged: triggers and checks of foreign keys do not fire, and the text form of values does not
 * depend on settings.
 * @throws Error when its role may not
 */
export async function replicate(client: pg.Client): Promise<void> {
  await client.query(
    `SET TimeZone = 'UTC'; SET extra_float_digits = 1; SET session_replication_role = replica`,
  );
}

/** Runs statements in the transaction of a connection. @param directory the connection for statements of the directory */
export const asTx = (client: pg.Client, directory = client): Pick<Tx, 'query'> => ({
  query: async <Row>({ text, home }: Statement<Row>, values: readonly unknown[]) =>
    (await (home === 'directory' ? directory : client).query(text, values as unknown[])).rows as Row[],
});
