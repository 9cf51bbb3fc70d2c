import pg from 'pg';
import { type Content, isNewer, type MovedTable } from './moved-table.js';

const { escapeLiteral: literal } = pg;

/**
 * The tables that have rows of the workspace. In one statement, as the functions below: most tables have none, and while writes
 * are stopped, each round trip is time in which the users cannot work.
 */
async function tablesWithRows(
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<MovedTable[]> {
  const found = await rowOfEach<{ found: boolean }>(
    client,
    tables,
    (table) => `EXISTS (SELECT FROM ${table.of(tenantId)}) AS found`,
  );
  return tables.filter(({ name }) => found.get(name)!.found);
}

/** Copies the rows of one snapshot. @returns the oldest transaction that the snapshot does not see, and the number of rows */
export async function copyAll(
  source: pg.Client,
  target: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<{ since: string; rows: number }> {
  await source.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const snapshot = await source.query<{ since: string }>(
    `SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::numeric % 4294967296)::text AS since`,
  );
  let rows = 0;
  for (const table of await tablesWithRows(source, tables, tenantId))
    rows += await table.copy(source, target, tenantId);
  await source.query('COMMIT');
  return { since: snapshot.rows[0]!.since, rows };
}

/** Repeats the changes of the source since the copy. @returns the number of rows that were written or removed again */
export async function catchUp(
  source: pg.Client,
  target: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
  since: string,
): Promise<number> {
  let rows = 0;
  for (const table of await changedTables(source, target, tables, tenantId, since))
    rows += await table.catchUp(source, target, tenantId, since);
  return rows;
}

/** @returns the number of rows @throws Error for a table that differs */
export async function compare(
  source: pg.Client,
  target: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<number> {
  const [here, there] = await Promise.all([
    contentOfEach(source, tables, tenantId),
    contentOfEach(target, tables, tenantId),
  ]);
  let total = 0;
  for (const [name, { rows, checksum }] of here) {
    const copied = there.get(name)!;
    if (rows !== copied.rows || checksum !== copied.checksum)
      throw new Error(`the copy of the table ${name} differs`);
    total += rows;
  }
  return total;
}

/**
 * The tables whose rows in `target` are not those of `source`: those with rows that were written since the copy, or with another
 * number of rows.
 * @param since the oldest transaction that the snapshot of the copy did not see
 */
async function changedTables(
  source: pg.Client,
  target: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
  since: string,
): Promise<MovedTable[]> {
  const [here, there] = await Promise.all([
    rowOfEach<{ rows: number; written: boolean }>(
      source,
      tables,
      (table) =>
        `count(*)::float8 AS rows, coalesce(bool_or(${isNewer(since)}), false) AS written FROM ${table.of(tenantId)}`,
    ),
    rowOfEach<{ rows: number }>(
      target,
      tables,
      (table) => `count(*)::float8 AS rows FROM ${table.of(tenantId)}`,
    ),
  ]);
  return tables.filter(({ name }) => {
    const { rows, written } = here.get(name)!;
    return written || rows !== there.get(name)!.rows;
  });
}

/** Deletes the rows of the workspace. */
export async function clearAll(
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<void> {
  for (const table of await tablesWithRows(client, tables, tenantId)) await table.clear(client, tenantId);
}

/** The contents of all tables, by their names. */
const contentOfEach = (
  client: pg.Client,
  tables: readonly MovedTable[],
  tenantId: string,
): Promise<Map<string, Content>> => rowOfEach(client, tables, (table) => table.content(tenantId));

/** @param select columns of one row of a table, and where they are from */
async function rowOfEach<T>(
  client: pg.Client,
  tables: readonly MovedTable[],
  select: (table: MovedTable) => string,
): Promise<Map<string, T>> {
  const { rows } = await client.query<T & { name: string }>(
    tables.map((table) => `SELECT ${literal(table.name)} AS name, ${select(table)}`).join('\nUNION ALL\n'),
  );
  return new Map(rows.map((row) => [row.name, row]));
}
