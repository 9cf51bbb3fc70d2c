import pg from 'pg';

/** Limits that a server or a role may set and that a long copy exceeds. */
const LIMITS = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
  'transaction_timeout',
];

/** Connections of backups and restores have this name in pg_stat_activity. */
export const APPLICATION_NAME = 'backup';

/** Opens a connection without time limits. It fails its next query when it is lost. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: APPLICATION_NAME,
    keepAlive: true,
  });
  // Without a listener, the loss of an idle connection ends the process.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`SELECT set_config(name, '0', false) FROM pg_settings WHERE name = ANY ($1)`, [LIMITS]);
  return client;
}
