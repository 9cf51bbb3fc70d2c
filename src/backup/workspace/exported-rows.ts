import type pg from 'pg';
import { appliedMigrations, currentSchema, type Table } from '../database/catalog.js';
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

/** Copies rows of one table of an export. @param rows see `copyRows` */
export async function exportTable(
  { store, id, report }: Export,
  snapshot: Snapshot,
  part: string,
  rows: { table: Table; source: string },
): Promise<TableObject> {
  return copyRows(snapshot, store, id, { schema: part, ...rows }, report);
}

/** Names of the migrations in the schema that the connection uses. */
export async function currentMigrations(client: pg.Client): Promise<string[]> {
  return appliedMigrations(client, await currentSchema(client));
}
