import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../config/config.js';
import { installationOf } from '../platform/secrets/keyring.js';
import { secretKeyIds } from '../platform/secrets/secret-box.js';
import { BackupError, type Fault, type Report } from './reporting.js';
import { BackupStore, removeOldSnapshots } from './store/backup-store.js';
import { type CopiedFiles, copyNeededFiles, listFiles, type NeededFiles } from './store/copy-files.js';
import { AllSnapshots, type Snapshot } from './database/snapshots.js';
import { exportCell, exportTables, rejectMigrated } from './database/export-tables.js';
import {
  FORMAT,
  FORMAT_WITH_CELLS,
  type Manifest,
  type SchemaBackup,
  tableCounts,
} from './store/manifest.js';
import { OWN_SCHEMAS, productVersion } from './database/catalog.js';

export interface BackupOptions {
  /** See `BackupStore.open`. */
  to: string;
  /** Number of newest snapshots to keep; default: all. */
  keep?: number;
}

export interface BackupSummary {
  snapshot: string;
  taken_at: string;
  tables: number;
  rows: number;
  /** The bytes of the compressed tables. */
  table_bytes: number;
  files: number;
  file_bytes: number;
  files_copied: number;
  file_bytes_copied: number;
  /** Files of the installation that are missing or damaged. */
  faults: Fault[];
  /** Ids of old snapshots that were removed. */
  removed: string[];
}

/**
 * Copies one state of all databases and the files that it refers to, while servers run. Files that the destination has are not
 * copied again, so a second run continues an aborted one.
 *
 * @throws BackupError when another backup runs, the destination has backups of another installation, or migrations ran meanwhile
 */
export async function createBackup(
  config: Config,
  databaseUrl: string,
  { to, keep }: BackupOptions,
  report: Report,
): Promise<BackupSummary> {
  const store = await BackupStore.open(to);
  const scratch = await mkdtemp(path.join(tmpdir(), 'workspace-backup-'));
  let snapshots: AllSnapshots | undefined;
  try {
    snapshots = await AllSnapshots.take(config, databaseUrl);
    const { directory: snapshot, cells } = snapshots;
    await snapshot.excludeOtherBackups();
    const installation = await installationId(snapshot);
    await store.claim(installation);
    const { incomplete } = await store.snapshots();
    // Only one backup of an installation runs at a time: these were aborted.
    for (const id of incomplete) await store.removeSnapshot(id);
    const id = snapshotIdOf(snapshot.takenAt);
    const schemas = await exportTables(snapshot, store, id, report);
    const needed = await listAllFiles(snapshot, schemas, scratch);
    const parts: SchemaBackup[] = [];
    for (const cell of cells) {
      parts.push(await exportCell(cell, store, id, report));
      const kind = `${WORKSPACE_FILES.kind}-${cell.name}`;
      needed.push(await listFiles(cell.snapshot, null, { ...WORKSPACE_FILES, kind }, scratch));
    }
    await snapshots.release();
    await rejectMigrated(snapshot, schemas);
    const copies = await copyNeededFiles(config, store, id, needed, report);
    // Collectors may have removed files if the connection with the lock was lost. Then these queries fail.
    await rejectMigrated(snapshot, schemas);
    for (const cell of cells) await cell.snapshot.present((client) => client.query('SELECT'));
    const manifest: Manifest = {
      format: cells.length > 0 ? FORMAT_WITH_CELLS : FORMAT,
      version: productVersion(),
      snapshot: id,
      takenAt: snapshot.takenAt.toISOString(),
      installation,
      secretKeys: secretKeyIds(config),
      schemas: [...schemas, ...parts],
      files: copies.map(({ set }) => set),
    };
    await store.writeManifest(manifest);
    const removed = keep === undefined ? [] : await removeOldSnapshots(store, keep);
    return summaryOf(manifest, copies, removed);
  } finally {
    await snapshots?.close();
    await rm(scratch, { recursive: true, force: true });
    store.close();
  }
}

const WORKSPACE_FILES = OWN_SCHEMAS[0]!.files;

/** The time as an id, e.g. `20261123T020530123Z`. Ids sort by time. */
export const snapshotIdOf = (time: Date): string => time.toISOString().replaceAll(/[-:.]/g, '');

async function installationId(snapshot: Snapshot): Promise<string> {
  const rows = await snapshot.read(async (client) => {
    const exists = await client.query(`SELECT FROM pg_class WHERE oid = to_regclass('platform_secrets')`);
    return exists.rowCount === 0 ? [] : (await client.query<{ id: string }>(installationOf.text)).rows;
  });
  if (!rows[0]) throw new BackupError('The database has no installation. Start the server first.');
  return rows[0].id;
}

/** Lists the files of all schemas in the snapshot. */
async function listAllFiles(
  snapshot: Snapshot,
  schemas: readonly SchemaBackup[],
  scratch: string,
): Promise<NeededFiles[]> {
  const lists: NeededFiles[] = [];
  for (const { name, files } of OWN_SCHEMAS)
    if (schemas.some((schema) => schema.name === name))
      lists.push(await listFiles(snapshot, name, files, scratch));
  return lists;
}

/** Numbers of a snapshot for the operator. */
export function summaryOf(
  manifest: Manifest,
  copies: readonly CopiedFiles[],
  removed: string[],
): BackupSummary {
  const tables = manifest.schemas.flatMap((schema) => schema.tables);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    snapshot: manifest.snapshot,
    taken_at: manifest.takenAt,
    ...tableCounts(manifest),
    table_bytes: sum(tables.map(({ bytes }) => bytes)),
    files: sum(copies.map(({ set }) => set.count)),
    file_bytes: sum(copies.map(({ set }) => set.bytes)),
    files_copied: sum(copies.map(({ copied }) => copied)),
    file_bytes_copied: sum(copies.map(({ copiedBytes }) => copiedBytes)),
    faults: copies.flatMap(({ faults }) => faults),
    removed,
  };
}
