import { Config } from '../../../src/config/config.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { migrate } from '../../../src/platform/database/schema/migrate.js';
import type { MigrationClass } from '../../../src/platform/database/schema/schema-part.js';
import type { SqlFile } from '../../../src/platform/database/schema/stored-sql.js';
import { emptyDatabase } from '../database/database.ts';
import { type Break, findBreaks, type Namespace, nameOf, type Release } from './release.ts';

const timeOf = (migration: MigrationClass): number => Number(nameOf(migration).slice(-13));

/**
 * Finds the cause of each break: applies the migrations since the release one by one, with the functions and views of the
 * release, then those of this version. Called for a failure only, because it takes seconds.
 * @param breaks of a database of this version
 * @returns the cause of each, by `what`: the name of a migration, or `sql/` for functions and views
 */
export async function findCulprits(
  release: Release,
  namespaces: readonly Namespace[],
  breaks: readonly Break[],
): Promise<Map<string, string>> {
  const causes = new Map<string, string>();
  const database = await emptyDatabase();
  try {
    for (const { name, sql } of release.schemas)
      await apply(database.url, name, stepsOf(release, namespaces, name).before, sql);
    for (const { name, sql } of release.schemas) {
      const { before, since } = stepsOf(release, namespaces, name);
      for (const [n, migration] of since.entries()) {
        const applied = [...before, ...since.slice(0, n + 1)];
        // The functions and views of the release may be invalid after a migration: then their statements fail as well.
        await apply(database.url, name, applied, sql).catch(() => apply(database.url, name, applied, []));
        for (const { what } of await findBreaks(release, database.url))
          if (!causes.has(what)) causes.set(what, nameOf(migration));
      }
    }
  } finally {
    await database.drop();
  }
  return new Map(breaks.map(({ what }) => [what, causes.get(what) ?? 'sql/']));
}

/** The migrations of a schema that the release has, and later ones in the order of their time. */
function stepsOf(release: Release, namespaces: readonly Namespace[], schema: string) {
  const known = new Set(release.schemas.find(({ name }) => name === schema)?.migrations);
  const all = (namespaces.find(({ name }) => name === schema)?.migrations ?? []).toSorted(
    (a, b) => timeOf(a) - timeOf(b),
  );
  return {
    before: all.filter((migration) => known.has(nameOf(migration))),
    since: all.filter((migration) => !known.has(nameOf(migration))),
  };
}

/** Applies migrations to a schema, and replaces its functions and views. */
async function apply(
  url: string,
  schema: string,
  migrations: MigrationClass[],
  sql: SqlFile[],
): Promise<void> {
  const config = Config.parse({ DATABASE_URL: url });
  const options = { timeouts: false, schema };
  const dataSource = await createDataSource(config, url, { entities: [], migrations }, options).initialize();
  try {
    await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await migrate(dataSource, sql);
  } finally {
    await dataSource.destroy();
  }
}
