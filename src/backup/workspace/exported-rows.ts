import type pg from 'pg';
import { appliedMigrations, type Table } from '../database/catalog.js';
import { copyRows } from '../database/export-tables.js';
import type { Snapshot } from '../database/snapshot.js';
import type { Report } from '../progress.js';
import type { BackupStore } from '../store/backup-store.js';
import type { TableObject } from '../store/manifest.js';

/** A running export. */
export interface Export {
  readonly store: BackupStore;
  /** Of its snapshot in the store. */
  readonly id: string;
  readonly tenantId: string;
  /** The database of the workspace. */
  readonly cell: Snapshot;
  /** The database of the directory and of the mail service; the same object unless the workspace is in another cell. */
  readonly directory: Snapshot;
  readonly report: Report;
}

/** Copies rows of one table and reports it. @param rows see `copyRows` */
export async function exportTable(
  { store, id, report }: Export,
  snapshot: Snapshot,
  part: string,
  rows: { table: Table; source: string },
): Promise<TableObject> {
  const copied = await copyRows(snapshot, store, id, { schema: part, ...rows });
  await report({ phase: 'table', name: `${part}.${rows.table.name}`, amount: copied.rows });
  return copied;
}

/** Names of the migrations in the schema that the connection uses. */
export async function currentMigrations(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ schema: string }>('SELECT current_schema() AS schema');
  return appliedMigrations(client, rows[0]!.schema);
}
