import { randomBytes } from 'node:crypto';
import pg from 'pg';

const templateUrl = (): URL => new URL(process.env['TEST_DATABASE_URL'] as string);

const named = (name: string): string => {
  const url = templateUrl();
  url.pathname = `/${name}`;
  return url.toString();
};

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: named('postgres') });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A database of its own for a test file: a copy of the migrated template. */
export async function cloneDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${templateUrl().pathname.slice(1)}`);
  return { url: named(name), drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** An empty database, without any schema. */
export async function emptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE template0`);
  return { url: named(name), drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
