import type { DataSource } from 'typeorm';

/** Any constant: the same in every process that migrates this database. */
const MIGRATION_LOCK = 7_706_113_001;

/**
 * Applies the pending migrations, each in its own transaction. Safe to run from many processes at once: one works, the
 * others wait for it.
 * @returns the names of those applied now
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const guard = dataSource.createQueryRunner();
  try {
    await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await dataSource.runMigrations({ transaction: 'each' });
    return applied.map((migration) => migration.name);
  } finally {
    await guard.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await guard.release();
  }
}
