import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../config/config.js';
import { installationOf } from '../platform/secrets/keyring.js';
import { secretKeyIds } from '../platform/secrets/secret-box.js';
import { BackupError } from './backup-error.js';
import { BackupStore } from './store/backup-store.js';
import type { CopiedFiles } from './store/copy-files.js';
import { connect } from './database/connection.js';
import { exportTables, rejectMigrated } from './database/export-tables.js';
import { FORMAT, type Manifest, type SchemaBackup } from './store/manifest.js';
import type { Fault, Report } from './progress.js';
import { OWN_SCHEMAS, productVersion } from './database/schemas.js';
import { copyNeededFiles, listFiles, type NeededFiles } from './store/needed-files.js';
import { removeOldSnapshots } from './store/retention.js';
import { Snapshot } from './database/snapshot.js';

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
  /** Of the compressed tables. */
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
 * Copies one state of the database and the files that it refers to, beside running servers. Files that the destination has are
 * not copied again, so a second run continues an aborted one.
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
  let snapshot: Snapshot | undefined;
  try {
    snapshot = await Snapshot.take(() => connect(databaseUrl));
    await rejectCells(snapshot);
    const installation = await installationId(snapshot);
    await store.claim(installation);
    const { incomplete } = await store.snapshots();
    // Only one backup of an installation runs at a time: these were aborted.
    for (const id of incomplete) await store.removeSnapshot(id);
    const id = snapshotIdOf(snapshot.takenAt);
    const schemas = await exportTables(snapshot, store, id, report);
    const needed = await needs(snapshot, schemas, scratch);
    await snapshot.release();
    await rejectMigrated(snapshot, schemas);
    const copies = await copyNeededFiles(config, store, id, needed, report);
    // The files are complete only if collectors waited until now: this fails when the connection with the lock was lost.
    await rejectMigrated(snapshot, schemas);
    const manifest: Manifest = {
      format: FORMAT,
      version: productVersion(),
      snapshot: id,
      takenAt: snapshot.takenAt.toISOString(),
      installation,
      secretKeys: secretKeyIds(config),
      schemas,
      files: copies.map(({ set }) => set),
    };
    await store.writeManifest(manifest);
    const removed = keep === undefined ? [] : await removeOldSnapshots(store, keep);
    return summaryOf(manifest, copies, removed);
  } finally {
    await snapshot?.close();
    await rm(scratch, { recursive: true, force: true });
    store.close();
  }
}

/** The time as an id, in which order of text is order of time: `20261123T020530123Z`. */
export const snapshotIdOf = (time: Date): string => time.toISOString().replaceAll(/[-:.]/g, '');

async function installationId(snapshot: Snapshot): Promise<string> {
  const rows = await snapshot.read(async (client) => {
    const exists = await client.query(`SELECT FROM pg_class WHERE oid = to_regclass('platform_secrets')`);
    return exists.rowCount === 0 ? [] : (await client.query<{ id: string }>(installationOf.text)).rows;
  });
  if (!rows[0]) throw new BackupError('The database has no installation. Start the server first.');
  return rows[0].id;
}

/** The files of all schemas that the snapshot has. */
async function needs(
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
    tables: tables.length,
    rows: sum(tables.map(({ rows }) => rows)),
    table_bytes: sum(tables.map(({ bytes }) => bytes)),
    files: sum(copies.map(({ set }) => set.count)),
    file_bytes: sum(copies.map(({ set }) => set.bytes)),
    files_copied: sum(copies.map(({ copied }) => copied)),
    file_bytes_copied: sum(copies.map(({ copiedBytes }) => copiedBytes)),
    faults: copies.flatMap(({ faults }) => faults),
    removed,
  };
}

/** @throws BackupError for an installation with workspaces in other databases, which this snapshot does not contain */
async function rejectCells(snapshot: Snapshot): Promise<void> {
  const count = await snapshot.read(async (client) => {
    const known = await client.query<{ exists: boolean }>(
      `SELECT to_regclass('cells') IS NOT NULL AS exists`,
    );
    if (!known.rows[0]?.exists) return 0;
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM cells');
    return rows[0]?.count ?? 0;
  });
  if (count > 1)
    throw new BackupError(
      'Workspaces are in several databases: back up each by the means of PostgreSQL (docs/scaling.md).',
    );
}
