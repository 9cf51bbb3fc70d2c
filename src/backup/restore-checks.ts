import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Config } from '../config/config.js';
import { secretKeyIds } from '../platform/secrets/secret-box.js';
import { BackupError } from './reporting.js';
import {
  appliedMigrations,
  migrationName,
  OWN_SCHEMAS,
  productVersion,
  qualified,
  tablesOf,
} from './database/catalog.js';
import type { Manifest } from './store/manifest.js';

const SESSION_END_ATTEMPTS = 20;
const SESSION_END_PAUSE_MS = 100;

/** Tables in which a server without workspaces and accounts has rows. A restore replaces them. */
const START_TABLES = new Set([
  'public.audit_log',
  'public.cells',
  'public.job_runs',
  'public.platform_secrets',
  'public.push_keys',
  'public.signing_keys',
  'mail_service.job_runs',
]);

/** @throws BackupError when this version does not know a migration of the backup */
export function rejectNewerVersion({ version, schemas }: Manifest): void {
  for (const { name, migrations } of schemas) {
    const own = OWN_SCHEMAS.find((each) => each.name === name);
    const known = new Set(own?.definition.migrations.map(migrationName));
    const unknown = migrations.find((migration) => !known.has(migration));
    if (own === undefined || unknown !== undefined)
      throw new BackupError(
        `The backup was made by version ${version} with the migration ${unknown ?? name}, which this version ${productVersion()} does not have. Install the version that made the backup, or a later one.`,
      );
  }
}

/** @throws BackupError when SECRET_KEYS lacks a key that the backup was made with */
export function rejectMissingKeys({ secretKeys }: Manifest, config: Config): void {
  const present = new Set(secretKeyIds(config));
  const missing = secretKeys.filter((id) => !present.has(id));
  if (missing.length === 0) return;
  throw new BackupError(
    `SECRET_KEYS lacks keys of the backup, with the ids ${missing.join(', ')}. Without them, signing keys, second factors and credentials of mail accounts cannot be read. Set SECRET_KEYS as it was, or pass --ignore-secret-keys.`,
  );
}

/**
 * Checks that the database can take a backup.
 * @throws BackupError when servers run on it, it has content, or its schema is newer than that of the backup
 */
export async function rejectUsedDatabase(client: pg.Client, manifest: Manifest): Promise<void> {
  await rejectServers(client);
  for (const { name } of OWN_SCHEMAS) {
    const wanted = manifest.schemas.find((each) => each.name === name)?.migrations ?? [];
    const later = (await appliedMigrations(client, name)).find((migration) => !wanted.includes(migration));
    if (later !== undefined && wanted.length > 0)
      throw new BackupError(
        `The database has the migration ${later}, which is later than the backup of version ${manifest.version}. Restore into a database without tables.`,
      );
    await rejectContent(client, name);
  }
}

/** @throws BackupError when servers run on the database */
export async function rejectServers(client: pg.Client): Promise<void> {
  if (await isUsed(client)) throw new BackupError('Servers use this database. Stop them before the restore.');
}

/** @throws BackupError when a table has rows that the start of a server does not write */
export async function rejectContent(client: pg.Client, schema: string): Promise<void> {
  for (const { name } of await tablesOf(client, schema)) await rejectRows(client, schema, name);
}

/** PostgreSQL ends the session of a terminated process with a delay, so the check is repeated. */
async function isUsed(client: pg.Client): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'workspace%'`,
    );
    if (!rows[0]?.count) return false;
    if (attempt === SESSION_END_ATTEMPTS) return true;
    await delay(SESSION_END_PAUSE_MS);
  }
}

async function rejectRows(client: pg.Client, schema: string, table: string): Promise<void> {
  if (START_TABLES.has(`${schema}.${table}`)) return;
  const { rowCount } = await client.query(`SELECT FROM ${qualified(schema, table)} LIMIT 1`);
  if (rowCount)
    throw new BackupError(
      `The installation is not empty: the table ${schema}.${table} has rows. Restore into an empty database, or with another DATA_DIR.`,
    );
}
