import type { INestApplicationContext } from '@nestjs/common';
import { CellAdministration } from '../../../src/platform/cells/cell-administration.js';
import { Cells } from '../../../src/platform/cells/cells.js';
import { Db } from '../../../src/platform/database/db.js';
import { directory, type HomeName, workspace } from '../../../src/platform/database/statement.js';
import { schema } from '../../../src/schema.js';
import { type CellSchema, cloneCellSchemas } from './cell-schemas.ts';
import { cloneDatabase, inDatabase, onServer } from './database.ts';

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

/** Adds cells in databases of their own to an installation, and places all new workspaces there. */
export async function addCells(
  app: Pick<INestApplicationContext, 'get'>,
  ...names: string[]
): Promise<TestCell[]> {
  const cells: TestCell[] = [];
  for (const name of names) {
    const { url, drop } = await cloneDatabase();
    cells.push(testCell(name, url, drop));
  }
  await placeIn(app, cells);
  return cells;
}

/** Adds cells in schemas of one database. @returns a function that removes the database */
export async function addCellSchemas(
  app: Pick<INestApplicationContext, 'get'>,
  names: readonly string[],
): Promise<() => Promise<unknown>> {
  const { cells, drop } = await cloneCellSchemas();
  await placeIn(
    app,
    cells.map((cell, n) => ({ ...cell, name: names[n]! })),
  );
  return drop;
}

async function placeIn(
  app: Pick<INestApplicationContext, 'get'>,
  cells: readonly ({ name: string; url: string } & Partial<CellSchema>)[],
): Promise<void> {
  const administration = app.get(CellAdministration, { strict: false });
  for (const { name, url, schema: namespace } of cells) await administration.add(name, url, namespace);
  // A new cell takes workspaces once every process has read the list of cells, seconds later.
  const known = directory.statement<never>(
    '',
    `UPDATE cells SET added_at = now() - interval '1 hour' WHERE added_at > '-infinity'`,
  );
  await app.get(Db).query(known, []);
  await administration.setState('main', 'draining');
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

/** Names of tables, views and functions by home. */
const namesOf = (db: Db, home: HomeName): RegExp => {
  const tables = schema.parts.flatMap(({ entities }) =>
    (entities[home] ?? []).map((entity) => db.dataSource.getMetadata(entity).tableName),
  );
  const stored = schema.sql
    .filter((file) => file.home === home)
    .flatMap(({ text }) => [...text.matchAll(/^CREATE (?:FUNCTION|VIEW) (\w+)/gm)].map(([, name]) => name));
  // Columns have such names as well.
  const from = `(?:FROM|JOIN|INTO|UPDATE|TABLE)\\s+(?:${[...tables, ...stored].join('|')})\\b`;
  return new RegExp([from, ...stored.map((name) => `${name}\\(`)].map((part) => `\\b${part}`).join('|'));
};

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const placed = directory.statement<{ cell: string }>(
  '',
  'SELECT DISTINCT cell FROM workspace_cells WHERE tenant_id = ANY ($1)',
);

/**
 * The cells that SQL of a test has to run in: those of the workspaces that it names, otherwise each database with tables of
 * this home.
 */
async function cellsOf(db: Db, text: string, values: unknown[]): Promise<readonly string[]> {
  const mentions = (home: HomeName) => namesOf(db, home).test(text);
  const all = db.cells;
  if (/^\s*(?:CREATE|DROP|ALTER|DO)\b/.test(text)) return all;
  if (mentions('directory') && !mentions('workspace') && !mentions('either')) return all.slice(0, 1);
  const ids = JSON.stringify([text, values]).match(UUID) ?? [];
  const cells = (await db.query(placed, [ids])).map(({ cell }) => cell);
  return cells.length > 0 ? cells : all;
}

/**
 * Runs SQL of a test that knows one database only: in the databases that have the rows. The rows of the databases follow each
 * other; single rows of numbers, as of counts, are added.
 */
export async function inEachDatabase<Row>(db: Db, text: string, values: unknown[]): Promise<Row[]> {
  const statement = workspace.statement<Record<string, unknown>>('', text, { reach: 'cell' });
  const results: Record<string, unknown>[][] = [];
  for (const cell of await cellsOf(db, text, values))
    results.push(await db.inCell(cell, () => db.query(statement, values)));
  return sum(results) as Row[];
}

function sum(results: Record<string, unknown>[][]): Record<string, unknown>[] {
  const isNumber = (value: unknown) =>
    value === null ||
    typeof value === 'number' ||
    (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value));
  const areNumbers = results.every((rows) => {
    const cells = Object.values(rows[0] ?? {});
    return rows.length === 1 && cells.length > 0 && cells.every(isNumber);
  });
  if (results.length < 2 || !areNumbers) return results.flat();
  const [first, ...others] = results.map(([row]) => row!) as [Record<string, unknown>];
  const total = (key: string) => [first, ...others].reduce((added, row) => added + Number(row[key] ?? 0), 0);
  return [
    Object.fromEntries(
      Object.keys(first).map((key) => [
        key,
        typeof first[key] === 'string' ? String(total(key)) : total(key),
      ]),
    ),
  ];
}
