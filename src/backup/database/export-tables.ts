import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { BackupError, type Report } from '../reporting.js';
import type { BackupStore } from '../store/backup-store.js';
import {
  appliedMigrations,
  columnList,
  currentSchema,
  OWN_SCHEMAS,
  qualified,
  sequencesOf,
  type Table,
  tablesOf,
} from './catalog.js';
import type { SchemaBackup, TableObject } from '../store/manifest.js';
import type { CellSnapshot, Snapshot } from './snapshots.js';

/** Copies all tables of a snapshot. The caller checks with `rejectMigrated` that no migration has rewritten tables meanwhile. */
export async function exportTables(
  snapshot: Snapshot,
  store: BackupStore,
  id: string,
  report: Report,
): Promise<SchemaBackup[]> {
  const schemas: SchemaBackup[] = [];
  for (const { name } of OWN_SCHEMAS) {
    const [migrations, found] = await snapshot.read(
      async (client) => [await appliedMigrations(client, name), await tablesOf(client, name)] as const,
    );
    if (migrations.length === 0) continue;
    const tables: TableObject[] = [];
    for (const table of found) {
      const source = `${qualified(name, table.name)} (${columnList(table.columns)})`;
      tables.push(await copyRows(snapshot, store, id, { schema: name, table, source }, report));
    }
    const sequences = await snapshot.read((client) => sequencesOf(client, name));
    schemas.push({ name, migrations, tables, sequences });
  }
  return schemas;
}

/** Copies the tables of workspaces in a cell. */
export async function exportCell(
  { name: cell, snapshot }: CellSnapshot,
  store: BackupStore,
  id: string,
  report: Report,
): Promise<SchemaBackup> {
  const [migrations, found] = await snapshot.read(async (client) => {
    const namespace = await currentSchema(client);
    return [await appliedMigrations(client, namespace), await tablesOf(client, namespace)] as const;
  });
  const tables: TableObject[] = [];
  for (const table of found) {
    // Tables of the directory with this column are copied too: they have no rows in a cell.
    if (!table.columns.includes('tenant_id')) continue;
    const source = `${pg.escapeIdentifier(table.name)} (${columnList(table.columns)})`;
    tables.push(await copyRows(snapshot, store, id, { schema: `cells.${cell}`, table, source }, report));
  }
  return { name: OWN_SCHEMAS[0]!.name, cell, migrations, tables, sequences: [] };
}

/** @throws BackupError when the migrations of the database are no longer those of the snapshot */
export async function rejectMigrated(snapshot: Snapshot, schemas: readonly SchemaBackup[]): Promise<void> {
  for (const { name, migrations } of schemas) {
    const now = await snapshot.present((client) => appliedMigrations(client, name));
    if (now.join() !== migrations.join())
      throw new BackupError('The database was migrated during the backup. Run the backup again.');
  }
}

/** Copies rows of a table and reports it. @param rows.source for COPY: the table with its columns, or a SELECT in parentheses */
export async function copyRows(
  snapshot: Snapshot,
  store: BackupStore,
  id: string,
  { schema, table, source }: { schema: string; table: Table; source: string },
  report: Report,
): Promise<TableObject> {
  const { name, columns } = table;
  const copied = await snapshot.read(async (client) => {
    const rows = client.query(copyTo(`COPY ${source} TO STDOUT`));
    // When the destination fails, nothing reads the stream, and the end of the connection ends it with an error.
    rows.on('error', () => undefined);
    const object = await store.writeCompressed(id, `tables/${schema}.${name}.copy`, rows);
    return { ...object, table: name, columns, rows: rows.rowCount };
  });
  await report({ phase: 'table', name: `${schema}.${name}`, amount: copied.rows });
  return copied;
}
