import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { movedTables } from '../../platform/cells/move/moved-table.js';
import { installationOf } from '../../platform/secrets/keyring.js';
import { TenantsApi } from '../../modules/tenants/index.js';
import { BackupError, type Report } from '../reporting.js';
import { type BackupSummary, snapshotIdOf, summaryOf } from '../create-backup.js';
import { OWN_SCHEMAS, productVersion, type Table, tablesOf } from '../database/catalog.js';
import { Snapshot } from '../database/snapshots.js';
import { BackupStore } from '../store/backup-store.js';
import {
  type ExportedWorkspace,
  FORMAT,
  type Manifest,
  type SchemaBackup,
  type TableObject,
} from '../store/manifest.js';
import { copyNeededFiles, listFiles, type NeededFiles } from '../store/copy-files.js';
import {
  currentMigrations,
  DIRECTORY_PART,
  DIRECTORY_ROWS,
  type Export,
  exportTable,
  REPLACED_VALUES,
  WORKSPACE_PART,
} from './transferred-tables.js';
import type { Installation } from './installation.js';
import { exportMail } from './mail-export.js';

const { escapeIdentifier: quoted, escapeLiteral: literal } = pg;

const FILES = OWN_SCHEMAS[0]!.files;

/**
 * Copies a workspace while servers run: its rows, files and mail, its settings in the directory and the accounts of its members.
 * A later export to the same place copies new files only.
 *
 * @param to see `BackupStore.open`
 * @throws BackupError for an unknown workspace, another running backup, or a destination with other backups
 */
export async function exportWorkspace(
  installation: Installation,
  { slug, to }: { slug: string; to: string },
  report: Report,
): Promise<BackupSummary> {
  const { app, cells, db, open } = installation;
  const tenantId = await app.get(TenantsApi).idBySlug(slug);
  if (tenantId === null) throw new BackupError(`The workspace "${slug}" does not exist.`);
  const cell = await cells.cell(await cells.cellOf(tenantId));
  const store = await BackupStore.open(to);
  const scratch = await mkdtemp(path.join(tmpdir(), 'workspace-export-'));
  const snapshots: Snapshot[] = [];
  try {
    // The members of the first snapshot have accounts in the second one: accounts are never deleted.
    for (const database of new Set([cell, db.main])) {
      const snapshot = await Snapshot.open(() => open(database));
      snapshots.push(snapshot);
      await snapshot.take();
    }
    const [first, last = first] = snapshots as [Snapshot, Snapshot?];
    await last.excludeOtherBackups();
    const id = snapshotIdOf(first.takenAt);
    const work: Export = { store, id, tenantId, cell: first, directory: last, report };
    return await write(installation, work, scratch, snapshots);
  } finally {
    for (const snapshot of snapshots) await snapshot.close();
    await rm(scratch, { recursive: true, force: true });
    store.close();
  }
}

async function write(
  installation: Installation,
  work: Export,
  scratch: string,
  snapshots: readonly Snapshot[],
): Promise<BackupSummary> {
  const { store, id, tenantId, cell, directory, report } = work;
  const [{ id: origin } = { id: '' }] = await installation.db.query(installationOf, []);
  await store.claim(origin, tenantId);
  for (const aborted of (await store.snapshots()).incomplete) await store.removeSnapshot(aborted);
  const rows = await exportRows(installation, work);
  const mail = await exportMail(work, scratch);
  const schemas = [rows, await exportDirectory(work), ...(mail ? [mail.rows] : [])];
  const needed: NeededFiles[] = [await listFiles(cell, null, filesOf(tenantId), scratch)];
  if (mail) needed.push(mail.files);
  const workspace = await workspaceOf(directory, tenantId);
  for (const snapshot of snapshots) await snapshot.release();
  const copies = await copyNeededFiles(installation.config, store, id, needed, report);
  // This fails when the connection with the lock against collectors was lost.
  for (const snapshot of snapshots) await snapshot.present((client) => client.query('SELECT'));
  const manifest: Manifest = {
    format: FORMAT,
    version: productVersion(),
    snapshot: id,
    takenAt: cell.takenAt.toISOString(),
    installation: origin,
    workspace,
    secretKeys: [],
    schemas,
    files: copies.map(({ set }) => set),
  };
  await store.writeManifest(manifest);
  return summaryOf(manifest, copies, []);
}

const filesOf = (tenantId: string) => ({
  ...FILES,
  sql: `SELECT tenant_id, id, size::text, encode(sha256, 'hex') AS sha256 FROM blobs
         WHERE tenant_id = ${literal(tenantId)} AND state = 'kept' ORDER BY id`,
});

async function workspaceOf(directory: Snapshot, tenantId: string): Promise<ExportedWorkspace> {
  const { rows } = await directory.read((client) =>
    client.query<ExportedWorkspace>('SELECT id, slug, name FROM tenants WHERE id = $1', [tenantId]),
  );
  return rows[0]!;
}

async function exportRows({ workspaceTables }: Installation, work: Export): Promise<SchemaBackup> {
  const { cell, tenantId } = work;
  const tables = await cell.read((client) => movedTables(client, workspaceTables));
  const objects: TableObject[] = [];
  for (const table of tables)
    objects.push(
      await exportTable(work, cell, WORKSPACE_PART, {
        table: { name: table.name, columns: [...table.columns] },
        source: `(${table.rows(tenantId)})`,
      }),
    );
  return partOf(WORKSPACE_PART, cell, objects);
}

async function exportDirectory(work: Export): Promise<SchemaBackup> {
  const { directory, tenantId } = work;
  const accounts = await accountsOf(work);
  const found = await directory.read((client) => tablesOf(client, 'public'));
  const objects: TableObject[] = [];
  for (const [name, condition] of Object.entries(DIRECTORY_ROWS)) {
    const { columns } = found.find((each) => each.name === name) as Table;
    const values = columns.map((column) => REPLACED_VALUES[name]?.[column] ?? quoted(column));
    const where = condition
      .replaceAll(':tenant', literal(tenantId))
      .replaceAll(':accounts', `${literal(`{${accounts.join()}}`)}::uuid[]`);
    const source = `(SELECT ${values.join(', ')} FROM ${quoted(name)} WHERE ${where})`;
    objects.push(await exportTable(work, directory, DIRECTORY_PART, { table: { name, columns }, source }));
  }
  return partOf(DIRECTORY_PART, directory, objects);
}

/** Accounts of members, former ones included, of clients, and of links to issuers. */
async function accountsOf({ cell, directory, tenantId }: Export): Promise<string[]> {
  const read = async (snapshot: Snapshot, sql: string): Promise<string[]> => {
    const { rows } = await snapshot.read((client) => client.query<{ id: string }>(sql, [tenantId]));
    return rows.map(({ id }) => id);
  };
  const members = await read(cell, 'SELECT user_id AS id FROM tenant_members WHERE tenant_id = $1');
  const others = await read(
    directory,
    `SELECT account_id AS id FROM tenant_issuer_links WHERE tenant_id = $1
     UNION SELECT account_id FROM oidc_clients WHERE account_id IS NOT NULL AND $1 IN (tenant_id, owner_tenant_id)`,
  );
  return [...new Set([...members, ...others])];
}

async function partOf(name: string, snapshot: Snapshot, tables: TableObject[]): Promise<SchemaBackup> {
  const migrations = await snapshot.read((client) => currentMigrations(client));
  return { name, migrations, tables, sequences: [] };
}
