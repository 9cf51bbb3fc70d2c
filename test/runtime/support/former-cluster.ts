import { cpSync, existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { migrateDatabase } from '../../../src/app.prepare.js';
import { Config } from '../../../src/config/config.js';
import { migrateMailService } from '../../../src/mail-service/mail-service.js';
import { Account } from '../../../src/platform/database/embedded/account.js';
import { ensureCluster } from '../../../src/platform/database/embedded/cluster.js';
import { DATABASE } from '../../../src/platform/database/embedded/embedded-database.js';
import {
  clusterDir,
  ensureDataDir,
  ensureSocketDir,
} from '../../../src/platform/database/embedded/layout.js';
import { Postmaster } from '../../../src/platform/database/embedded/postmaster.js';
import {
  fetchPrograms,
  type FormerPrograms,
} from '../../../src/platform/database/embedded/upgrade/former-programs.js';
import { ROOT, temporaryDataDir } from './processes.ts';

export const FORMER_MAJOR = '17';

/** Where `npm test` puts the programs before the first run (`test/support/runner/fetch-former-postgres.mjs`). */
const PROGRAMS = path.join(ROOT, 'node_modules', '.cache', 'workspace-former-postgresql');

/** Whether the tests that need them run: they do not use the network themselves. */
export const hasFormerPrograms = (): boolean => existsSync(PROGRAMS);

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const formerPrograms = (): Promise<FormerPrograms> => fetchPrograms(PROGRAMS, FORMER_MAJOR, quiet);

/** The PostgreSQL of the former release, which runs on a data directory. */
export interface FormerRelease {
  url: (database: string) => string;
  /** The connection with the locks of a server or command. */
  client: pg.Client;
  stop: () => Promise<void>;
}

/** Starts PostgreSQL 17 as the former release did, and makes its database if it is missing. */
export async function startFormer(dataDir: string): Promise<FormerRelease> {
  const { binaries } = await formerPrograms();
  const directory = await ensureDataDir(dataDir);
  const cluster = clusterDir(directory);
  const account = await Account.choose(directory, cluster, binaries);
  const isNew = await ensureCluster(cluster, account, binaries);
  const socketDir = await ensureSocketDir(directory, account);
  const postmaster = new Postmaster(directory, cluster, socketDir, account, binaries, quiet);
  const client = await postmaster.connect();
  if (isNew) await client.query(`CREATE DATABASE ${DATABASE}`);
  const stop = async () => {
    await postmaster.stop();
    await client.end().catch(() => undefined);
  };
  return { url: (database) => postmaster.url(database), client, stop };
}

/** The database of a cell, with a name that needs quotes everywhere. */
export const CELL = 'Cell "A" = \'b\'';

/** Adds the schemas of the product, as this version makes them. */
export async function migrateFormer({ url }: FormerRelease): Promise<void> {
  const config = Config.parse({ DATABASE_URL: url(DATABASE) });
  await migrateDatabase(config, url(DATABASE));
  await migrateMailService(config, url(DATABASE));
}

/** Adds what only operators make: roles, settings, a further database, and objects of many kinds with unusual names. */
export async function fillFormer({ url }: FormerRelease): Promise<void> {
  await run(url('postgres'), [
    `CREATE DATABASE ${pg.escapeIdentifier(CELL)}`,
    `CREATE ROLE reporting LOGIN PASSWORD 'it''s secret' CONNECTION LIMIT 3 VALID UNTIL '2030-01-01'`,
    'CREATE ROLE analysts NOLOGIN',
    'GRANT analysts TO reporting WITH ADMIN TRUE, INHERIT FALSE',
    'GRANT pg_read_all_data TO reporting',
    'GRANT SET ON PARAMETER session_replication_role TO reporting',
    `ALTER ROLE reporting SET search_path = public, "Other ""one""", pg_temp`,
    `ALTER ROLE reporting SET application_name = 'a, b'`,
    `ALTER ROLE reporting IN DATABASE ${DATABASE} SET statement_timeout = '1h'`,
    `ALTER DATABASE ${DATABASE} SET work_mem = '7MB'`,
    `ALTER DATABASE postgres SET work_mem = '8MB'`,
    // None of them may change the text of rows, or prevent the copy.
    `ALTER DATABASE ${DATABASE} SET extra_float_digits = 0`,
    `ALTER DATABASE ${DATABASE} SET IntervalStyle = sql_standard`,
    `ALTER DATABASE ${pg.escapeIdentifier(CELL)} SET default_transaction_read_only = on`,
    'REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC',
    'GRANT CONNECT ON DATABASE postgres TO reporting',
    `COMMENT ON DATABASE postgres IS 'it''s for maintenance'`,
    'ALTER DATABASE postgres CONNECTION LIMIT 50',
    `REVOKE TEMPORARY ON DATABASE ${DATABASE} FROM PUBLIC`,
    `COMMENT ON DATABASE ${DATABASE} IS 'ours'`,
  ]);
  await run(url(DATABASE), [
    'CREATE SCHEMA "Own" AUTHORIZATION reporting',
    `CREATE TABLE "Own"."Values; --" (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "text" text COLLATE "C", part text GENERATED ALWAYS AS (lower("text")) STORED,
       bytes bytea, at timestamptz, ids uuid[], number double precision, json jsonb)`,
    `INSERT INTO "Own"."Values; --" ("text", bytes, at, ids, number, json)
     SELECT repeat(chr(220 + n % 50), n % 300), decode(md5(n::text), 'hex'), to_timestamp(n * 1234.567), ARRAY[gen_random_uuid(), NULL],
            n / 3.0::float8, jsonb_build_object('n', n, 'text', E'a\\n\\t\\\\N') FROM generate_series(1, 20000) AS n`,
    'CREATE UNLOGGED TABLE "Own".short (n int)',
    'INSERT INTO "Own".short VALUES (1), (NULL)',
    'CREATE TABLE "Own".parted (n int) PARTITION BY RANGE (n)',
    'CREATE TABLE "Own".part_1 PARTITION OF "Own".parted FOR VALUES FROM (0) TO (10)',
    'INSERT INTO "Own".parted VALUES (1), (2)',
    'CREATE TABLE "Own".parent (n int)',
    'CREATE TABLE "Own".child (text text) INHERITS ("Own".parent)',
    `INSERT INTO "Own".child SELECT n, repeat('many', n) FROM generate_series(1, 500) AS n`,
    'INSERT INTO "Own".parent VALUES (1)',
    `CREATE TABLE "Own".spans AS SELECT interval '-1 year 2 days -3 hours' AS span, date '2024-03-02' AS day`,
    `CREATE SEQUENCE "Own".numbers INCREMENT 7 START 5; SELECT nextval('"Own".numbers')`,
    `CREATE TABLE "Own".children (n bigint REFERENCES "Own"."Values; --", id int PRIMARY KEY, parent int REFERENCES "Own".children DEFERRABLE)`,
    'INSERT INTO "Own".children VALUES (3, 1, 2), (4, 2, 1)',
    `CREATE FUNCTION "Own".fired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'fired'; END $$`,
    'CREATE TRIGGER guard BEFORE INSERT ON "Own".children FOR EACH ROW EXECUTE FUNCTION "Own".fired()',
    'ALTER TABLE "Own".children ENABLE ALWAYS TRIGGER guard',
    'CREATE VIEW "Own".report AS SELECT count(*) AS "of all" FROM "Own".parted',
    'GRANT SELECT ON "Own".report, "Own".children TO analysts WITH GRANT OPTION',
    'ALTER DEFAULT PRIVILEGES IN SCHEMA "Own" GRANT SELECT ON TABLES TO analysts',
    `COMMENT ON TABLE "Own".short IS 'it''s \\ short'`,
  ]);
  await run(url(CELL), ['SET default_transaction_read_only = off', 'CREATE TABLE kept (id uuid)']);
}

/** Runs statements on a new connection. */
async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** A copy of a stopped data directory, with the programs that npm would fetch. */
export async function copyFormer(from: string): Promise<string> {
  const dataDir = temporaryDataDir();
  cpSync(from, dataDir, { recursive: true });
  await linkPrograms(dataDir);
  return dataDir;
}

/** Puts the programs where an upgrade looks for them. */
export async function linkPrograms(dataDir: string): Promise<void> {
  await formerPrograms();
  symlinkSync(PROGRAMS, path.join(dataDir, 'upgrade'));
}
