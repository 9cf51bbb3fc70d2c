import type { DataSource } from 'typeorm';
import { type SqlFile, storedSqlState } from './stored-sql.js';

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
