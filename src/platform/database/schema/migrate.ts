import { setTimeout as delay } from 'node:timers/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { isLockTimeout, isRetryable } from '../database-errors.js';
import { type SqlFile, StoredSql, storedSqlState, versionOf } from './stored-sql.js';

/** The difference between a database and this version of the service. */
export interface MigrationPlan {
  /** Names of the migrations that `migrate` would apply, in their order. */
  pending: string[];
  /** Applied migrations that this version does not have: a newer version has migrated the database. */
  unknown: string[];
  /** Stored functions and views. `changed`: `migrate` would create them again. `newer`: those of a newer version. */
  functions: 'current' | 'changed' | 'newer';
}

/** Compares a database with this version. Reads only. @param files the stored functions and views, in dependency order */
export async function planMigration(
  dataSource: DataSource,
  files: readonly SqlFile[],
): Promise<MigrationPlan> {
  const [table] = (await dataSource.query(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS exists`,
  )) as {
    exists: boolean;
  }[];
  const rows = table?.exists
    ? ((await dataSource.query('SELECT name FROM schema_migrations ORDER BY id')) as { name: string }[])
    : [];
  const applied = new Set(rows.map(({ name }) => name));
  const own = dataSource.migrations
    .map(({ name }) => name ?? '')
    .toSorted((a, b) => Number(a.slice(-13)) - Number(b.slice(-13)));
  return {
    pending: own.filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !own.includes(name)),
    functions: await storedSqlState(dataSource, files),
  };
}

/** Whether `migrate` would change the database. */
export const needsMigration = ({ pending, functions }: MigrationPlan): boolean =>
  pending.length > 0 || functions === 'changed';

/** An arbitrary constant, the same in every process that migrates this database. */
const MIGRATION_LOCK = 7_706_113_001;
const MAX_ATTEMPTS = 120;
const PAUSE_MS = 500;
/** Less than the lock timeout of requests, which wait behind a migration that waits for a lock. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Applies the pending migrations and, where their text has changed, the stored functions and views: all in one
 * transaction, so that a failure leaves the previous state. Safe to run from many processes at once: one works, the
 * others wait for it. Migrations run while no stored function or view exists. A migration that waits for a long transaction, such
 * as that of a dump, releases its locks and retries for minutes, so that it does not block requests.
 * @param files in dependency order
 * @returns the names of the migrations applied now
 */
export async function migrate(dataSource: DataSource, files: readonly SqlFile[]): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      await runner.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const applied = await apply(runner, files);
      await runner.commitTransaction();
      return applied;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      // Replacing a view can deadlock with statements of the processes that still serve.
      if (attempt >= MAX_ATTEMPTS || !(isLockTimeout(error) || isRetryable(error))) throw error;
    } finally {
      await runner.release();
    }
    await delay(PAUSE_MS);
  }
}

async function apply(runner: QueryRunner, files: readonly SqlFile[]): Promise<string[]> {
  const migrations = new MigrationExecutor(runner.dataSource, runner);
  const stored = new StoredSql(runner, files, versionOf(runner.dataSource));
  const pending = await migrations.getPendingMigrations();
  if (pending.length === 0 && (await stored.isCurrent())) return [];
  await stored.drop();
  const applied = await migrations.executePendingMigrations();
  await stored.create();
  return applied.map(({ name }) => name);
}
