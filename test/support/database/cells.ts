import type { INestApplicationContext } from '@nestjs/common';
import pg from 'pg';
import { CellAdministration } from '../../../src/platform/cells/cell-administration.js';
import { Cells } from '../../../src/platform/cells/cells.js';
import { Db } from '../../../src/platform/database/db.js';
import { directory, type HomeName } from '../../../src/platform/database/statement.js';
import type { Database } from '../../../src/platform/database/database.js';
import { schema } from '../../../src/schema.js';
import { cloneDatabase, onServer } from './database.ts';

/** A cell of a test, in a database of its own. */
export interface TestCell {
  name: string;
  url: string;
  /** Runs SQL in it, beside the application. */
  sql(text: string, values?: unknown[]): Promise<any[]>;
  /** Ends its connections and rejects new ones. */
  stop(): Promise<void>;
  resume(): Promise<void>;
  drop(): Promise<unknown>;
}

/** Adds cells to an installation, and places all new workspaces there. */
export async function addCells(
  app: Pick<INestApplicationContext, 'get'>,
  ...names: string[]
): Promise<TestCell[]> {
  const administration = app.get(CellAdministration, { strict: false });
  const cells: TestCell[] = [];
  for (const name of names) {
    const { url, drop } = await cloneDatabase();
    await administration.add(name, url);
    cells.push(testCell(name, url, drop));
  }
  // They take new workspaces once every process knows them, seconds later.
  const known = directory.statement<never>(
    '',
    `UPDATE cells SET added_at = now() - interval '1 hour' WHERE added_at > '-infinity'`,
  );
  await app.get(Db).query(known, []);
  await administration.setState('main', 'draining');
  return cells;
}

/** The cell of a workspace as a second process reads it. */
export const cellOf = (app: { get(type: typeof Cells): Cells }, tenantId: string): Promise<string> =>
  app.get(Cells).cellOf(tenantId);

function testCell(name: string, url: string, drop: () => Promise<unknown>): TestCell {
  const database = new URL(url).pathname.slice(1);
  return {
    name,
    url,
    drop,
    sql: (text, values) => inDatabase(url, text, values),
    stop: async () => {
      await onServer(`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
      await onServer(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid()`,
      );
    },
    resume: async () => {
      await onServer(`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    },
  };
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

/** Names of tables, views and functions by home. */
const namesOf = (db: Db, home: HomeName): RegExp => {
  const tables = schema.parts.flatMap(({ entities }) =>
    (entities[home] ?? []).map((entity) => db.dataSource.getMetadata(entity).tableName),
  );
  const stored = schema.sql
    .filter((file) => file.home === home)
    .flatMap(({ text }) => [...text.matchAll(/^CREATE (?:FUNCTION|VIEW) (\w+)/gm)].map(([, name]) => name));
  return new RegExp(`\\b(?:${[...tables, ...stored].join('|')})\\b`);
};

/**
 * Runs SQL of a test that knows one database only: in the databases that have the rows. The rows of the databases follow each
 * other; single rows of numbers, as of counts, are added.
 */
export async function inEachDatabase<Row>(db: Db, text: string, values: unknown[]): Promise<Row[]> {
  const [main, ...cells] = db.databases as [Database, ...Database[]];
  const mentions = (home: HomeName) => namesOf(db, home).test(text);
  const databases = /^\s*(?:CREATE|DROP|ALTER|DO)\b/.test(text)
    ? [main, ...cells]
    : mentions('workspace')
      ? cells
      : mentions('directory') && !mentions('either')
        ? [main]
        : [main, ...cells];
  const results: Record<string, unknown>[][] = [];
  for (const { pool } of databases) results.push((await pool.query(text, values)).rows);
  const isNumber = (value: unknown) =>
    value === null ||
    typeof value === 'number' ||
    (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value));
  const areNumbers = results.every((rows) => rows.length === 1 && Object.values(rows[0]!).every(isNumber));
  if (results.length < 2 || !areNumbers) return results.flat() as Row[];
  const [first, ...others] = results.map(([row]) => row!) as [Record<string, unknown>];
  const sum = (key: string) => [first, ...others].reduce((total, row) => total + Number(row[key] ?? 0), 0);
  const added = Object.keys(first).map((key) => [
    key,
    typeof first[key] === 'string' ? String(sum(key)) : sum(key),
  ]);
  return [Object.fromEntries(added)] as Row[];
}
