import type { Config } from '../config/config.js';
import { BackupError, type Fault, type Report } from './reporting.js';
import { BackupStore } from './store/backup-store.js';
import { connect } from './database/snapshots.js';
import { loadTables } from './database/load-tables.js';
import { type Manifest, tableCounts } from './store/manifest.js';
import {
  rejectMissingKeys,
  rejectNewerVersion,
  rejectServers,
  rejectUsedDatabase,
} from './restore-checks.js';
import { restoreFiles } from './restore-files.js';
import { migrationName, OWN_SCHEMAS } from './database/catalog.js';
import { rejectFaults } from './verify-backup.js';

export interface RestoreOptions {
  /** See `BackupStore.open`. */
  from: string;
  /** Id of a snapshot; default: the newest complete one. */
  snapshot?: string;
  /** Restore although files are missing or damaged in the backup. */
  allowDamagedFiles?: boolean;
  /** Restore although SECRET_KEYS lacks keys. */
  ignoreSecretKeys?: boolean;
}

export interface RestoreSummary {
  snapshot: string;
  taken_at: string;
  version: string;
  tables: number;
  rows: number;
  files: number;
  faults: Fault[];
}

/**
 * Restores a snapshot into an empty installation. Files come first, then all tables in one transaction, then later migrations:
 * after a failure the database is still empty, and the restore can be repeated.
 *
 * @throws BackupError when the backup is damaged or newer than this version, keys are missing, or the installation has content
 */
export async function restoreBackup(
  config: Config,
  databaseUrl: string,
  options: RestoreOptions,
  report: Report,
): Promise<RestoreSummary> {
  const store = await BackupStore.open(options.from);
  try {
    const manifest = await store.manifest(options.snapshot);
    if (manifest.workspace)
      throw new BackupError('This is the export of one workspace: use workspace tenant import.');
    rejectNewerVersion(manifest);
    if (!options.ignoreSecretKeys) rejectMissingKeys(manifest, config);
    const client = await connect(databaseUrl);
    try {
      await rejectUsedDatabase(client, manifest);
      await rejectFaults(store, manifest, report);
      const { files, faults } = await restoreFiles(config, store, manifest.files, report);
      if (faults.length > 0 && !options.allowDamagedFiles) throw damagedFiles(faults);
      await migrateAsBackup(config, databaseUrl, manifest);
      // The copy of the files may take hours: a server may have been started meanwhile.
      await rejectServers(client);
      await loadTables(client, store, manifest, report);
      for (const { migrate, definition, name } of OWN_SCHEMAS)
        if (isIn(manifest, name)) await migrate(config, databaseUrl, definition);
      await client.query('ANALYZE');
      const { snapshot, takenAt, version } = manifest;
      return { snapshot, taken_at: takenAt, version, ...tableCounts(manifest), files, faults };
    } finally {
      await client.end();
    }
  } finally {
    store.close();
  }
}

const isIn = ({ schemas }: Manifest, name: string): boolean => schemas.some((schema) => schema.name === name);

/** Creates the tables as they were at the time of the backup, without the stored functions and views. */
async function migrateAsBackup(config: Config, databaseUrl: string, manifest: Manifest): Promise<void> {
  for (const { name, migrate, definition } of OWN_SCHEMAS) {
    const wanted = manifest.schemas.find((schema) => schema.name === name);
    if (!wanted) continue;
    const applied = new Set(wanted.migrations);
    const migrations = definition.migrations.filter((migration) => applied.has(migrationName(migration)));
    await migrate(config, databaseUrl, { parts: [], entities: [], migrations, sql: [] });
  }
}

function damagedFiles(faults: readonly Fault[]): BackupError {
  const some = faults.slice(0, 10).map(({ name, reason }) => `${name} is ${reason}`);
  const more = faults.length > some.length ? `; and ${faults.length - some.length} more` : '';
  return new BackupError(
    `Files of the backup are missing or damaged: ${some.join('; ')}${more}. Pass --allow-damaged-files to restore without them.`,
  );
}
