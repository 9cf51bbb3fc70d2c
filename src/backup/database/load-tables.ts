import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { v7 as uuidv7 } from 'uuid';
import { EPOCH, newEpoch } from '../../platform/sync/sync-cursors.js';
import { BackupError, type Report } from '../reporting.js';
import type { BackupStore } from '../store/backup-store.js';
import { rejectContent } from '../restore-checks.js';
import { columnList, qualified, tablesOf } from './catalog.js';
import type { Manifest, SchemaBackup, TableObject } from '../store/manifest.js';

/** This transaction builds indexes, which need more memory than a query. */
const WORK_MEMORY = '256MB';

const TABLE_OIDS = `SELECT class.oid FROM pg_class AS class
  WHERE relnamespace = ANY ($1::regnamespace[]) AND relkind = 'r' AND relpersistence = 'p'`;

/** Foreign keys: the statements that drop and create each. */
const FOREIGN_KEYS = `
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS remove,
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS create
  FROM pg_constraint WHERE contype = 'f' AND conrelid IN (${TABLE_OIDS}) ORDER BY oid`;

/** Indexes that belong to no constraint. They are built faster after the rows. */
const INDEXES = `
SELECT format('DROP INDEX %s', indexrelid::regclass) AS remove, pg_get_indexdef(indexrelid) AS create
  FROM pg_index WHERE indrelid IN (${TABLE_OIDS})
   AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid`;

/** Triggers of the product. To disable them by name needs no superuser, and includes those that always fire. */
const TRIGGERS = `
SELECT format('ALTER TABLE %s DISABLE TRIGGER %I', tgrelid::regclass, tgname) AS remove,
       format('ALTER TABLE %s ENABLE %s TRIGGER %I', tgrelid::regclass,
              CASE tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, tgname) AS create
  FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgrelid IN (${TABLE_OIDS}) ORDER BY oid`;

/** All workspaces are in the database of the directory now. */
const GATHER = `
UPDATE workspace_cells SET cell = 'main';
DELETE FROM account_cells;
DELETE FROM commit_decisions;
DELETE FROM cells WHERE name <> 'main';
UPDATE cells SET state = 'open', workspaces = (SELECT count(*) FROM workspace_cells);`;

/**
 * Fills the tables of a migrated, empty database in one transaction: it has all rows or none. The owner of the tables may do this:
 * foreign keys, indexes and triggers are removed before and created after the rows. Change feeds get a new epoch, because clients
 * may know changes that the backup does not have.
 * The workspaces of all cells are gathered in this database; `workspace tenant move` spreads them again.
 *
 * @throws BackupError when tables or numbers of rows differ from the manifest, or a server has written rows meanwhile
 */
export async function loadTables(
  client: pg.Client,
  store: BackupStore,
  { schemas }: Manifest,
  report: Report,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL maintenance_work_mem = '${WORK_MEMORY}'`);
    const names = schemas.map(({ name }) => name);
    for (const { name, cell } of schemas) if (cell === undefined) await lockEmpty(client, name);
    const restores: string[] = [];
    for (const sql of [FOREIGN_KEYS, INDEXES, TRIGGERS])
      restores.unshift(...(await removeAll(client, sql, names)));
    for (const schema of schemas) await loadSchema(client, store, schema, report);
    for (const statement of restores) await client.query(statement);
    if (schemas.some(({ cell }) => cell !== undefined)) await client.query(GATHER);
    await client.query(newEpoch.text, [EPOCH, uuidv7()]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** @returns the statements that create the removed objects */
async function removeAll(client: pg.Client, sql: string, schemas: string[]): Promise<string[]> {
  const { rows } = await client.query<{ remove: string; create: string }>(sql, [schemas]);
  for (const { remove } of rows) await client.query(remove);
  return rows.map(({ create }) => create);
}

async function loadSchema(
  client: pg.Client,
  store: BackupStore,
  { name: schema, cell, tables, sequences }: SchemaBackup,
  report: Report,
): Promise<void> {
  // Rows of a cell are added to the rows of the database of the directory, which is loaded first.
  if (cell === undefined) await empty(client, schema, tables);
  for (const table of tables) {
    await loadTable(client, store, schema, table);
    await report({ phase: 'table', name: `${schema}.${table.table}`, amount: table.rows });
  }
  for (const { name, lastValue, isCalled } of sequences)
    await client.query('SELECT setval($1, $2, $3)', [qualified(schema, name), lastValue, isCalled]);
}

/** Removes rows that the start of a server or a migration has written. COPY FREEZE requires TRUNCATE in the same transaction. */
async function empty(client: pg.Client, schema: string, tables: readonly TableObject[]): Promise<void> {
  const found = (await tablesOf(client, schema)).map(({ name }) => name);
  if (found.join() !== tables.map(({ table }) => table).join())
    throw new BackupError(`The tables of the schema ${schema} are not those of the backup.`);
  await client.query(`TRUNCATE ${found.map((table) => qualified(schema, table)).join(', ')}`);
}

/** A server that was started during the copy of the files may have written rows since the first check. The lock stops it. */
async function lockEmpty(client: pg.Client, schema: string): Promise<void> {
  const tables = (await tablesOf(client, schema)).map(({ name }) => qualified(schema, name));
  await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  await rejectContent(client, schema);
}

async function loadTable(
  client: pg.Client,
  store: BackupStore,
  schema: string,
  table: TableObject,
): Promise<void> {
  const target = `${qualified(schema, table.table)} (${columnList(table.columns)})`;
  const rows = client.query(copyFrom(`COPY ${target} FROM STDIN WITH (FREEZE)`));
  await pipeline(store.readCompressed(table), rows);
  if (rows.rowCount !== table.rows)
    throw new BackupError(`The table ${table.table} has ${rows.rowCount} rows instead of ${table.rows}.`);
}
