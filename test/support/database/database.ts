import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A copy of files takes a sixth of the processor time of the default, which writes each page to the WAL. */
const COPY = 'STRATEGY FILE_COPY';

const templateUrl = (): URL => new URL(process.env['TEST_DATABASE_URL'] as string);

const named = (name: string): string => {
  const url = templateUrl();
  url.pathname = `/${name}`;
  return url.toString();
};

/** Connections of this process to the test server. A new one for each statement takes 30 ms of processor time. */
let server: pg.Pool | undefined;

/** Runs SQL on the test server, outside the databases of the tests. */
export async function onServer(sql: string): Promise<any[]> {
  server ??= connectionsTo(named('postgres'));
  return (await server.query(sql)).rows;
}

function connectionsTo(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 4, idleTimeoutMillis: 0, allowExitOnIdle: true });
  // At the end of a run the server ends the idle connections.
  pool.on('error', () => undefined);
  return pool;
}

/** Runs SQL on a connection of its own. */
export async function inDatabase(url: string, text: string, values: unknown[] = []): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  url: string;
  drop: () => Promise<unknown>;
}

/**
 * A database of its own for a test file: a copy of the migrated template, or of another database.
 * @param tablespace default: that of the server
 */
export async function cloneDatabase({
  template = templateUrl().pathname.slice(1),
  tablespace,
}: { template?: string; tablespace?: string } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const place = tablespace === undefined ? '' : `TABLESPACE ${tablespace}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template} ${COPY} ${place}`);
  return { url: named(name), drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** An empty database, without any schema. */
export const emptyDatabase = (): Promise<TestDatabase> => cloneDatabase({ template: 'template0' });
