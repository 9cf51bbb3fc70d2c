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

/** Runs SQL on the test server, outside the databases of the tests. */
export async function onServer(sql: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: named('postgres') });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A database of its own for a test file: a copy of the migrated template. @param tablespace default: that of the server */
export async function cloneDatabase(
  tablespace?: string,
): Promise<{ url: string; drop: () => Promise<unknown> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(
    `CREATE DATABASE ${name} TEMPLATE ${templateUrl().pathname.slice(1)} ${COPY}${tablespace ? ` TABLESPACE ${tablespace}` : ''}`,
  );
  return { url: named(name), drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** An empty database, without any schema. */
export async function emptyDatabase(): Promise<{ url: string; drop: () => Promise<unknown> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE template0 ${COPY}`);
  return { url: named(name), drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
