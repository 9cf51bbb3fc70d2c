import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { DataSource, QueryRunner } from 'typeorm';
import type { HomeName } from '../statement.js';

/** A file of functions, views and the types that only they use: the one current text, re-applied when it changes. */
export interface SqlFile {
  /** Home of the tables that its functions and views use. */
  home: HomeName;
  name: string;
  text: string;
}

/**
 * @param home of the tables that the functions and views use
 * @param schema `import.meta.url` of the file of the schema, which has a folder `sql` beside it
 * @param names files without `.sql`, each after the files whose views, types and SQL functions it uses
 */
export function sqlFiles(home: HomeName, schema: string, ...names: string[]): SqlFile[] {
  return names.map((name) => ({
    home,
    name,
    text: readFileSync(new URL(`sql/${name}.sql`, schema), 'utf8'),
  }));
}

/** A table with one row: the set that was applied last, and the objects that it created, in the order of creation. */
const RECORD = `CREATE TABLE IF NOT EXISTS schema_sql (
  one         boolean      PRIMARY KEY DEFAULT true CHECK (one),
  hash        text         NOT NULL,
  -- Time of the newest migration that the process which applied the set knows.
  version     bigint       NOT NULL,
  objects     text[]       NOT NULL,
  applied_at  timestamptz  NOT NULL
)`;

/** Functions, views and types of the schema that belong to no extension and to no table, in the order of creation. */
const OBJECTS = `
SELECT kind || ' ' || (pg_identify_object(class, object, 0)).identity AS name FROM (
  SELECT 'ROUTINE' AS kind, 'pg_proc'::regclass AS class, oid AS object FROM pg_proc
   WHERE pronamespace = current_schema()::regnamespace AND prorettype <> 'trigger'::regtype
  UNION ALL
  SELECT CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TYPE' END, 'pg_class'::regclass, oid FROM pg_class
   WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'c')
) AS candidate
WHERE NOT EXISTS (
  SELECT FROM pg_depend WHERE classid = class AND objid = object AND refclassid = 'pg_extension'::regclass)
ORDER BY object`;

const hashOf = (files: readonly SqlFile[]): string =>
  createHash('sha256')
    .update(JSON.stringify(files.map(({ name, text }) => [name, text])))
    .digest('hex');

/** The 13-digit number in the name of the newest migration: distinguishes an older version of the service from a newer one. */
export const versionOf = ({ migrations }: DataSource): number =>
  Math.max(0, ...migrations.map(({ name }) => Number(name?.slice(-13))));

/** Compares the stored functions and views of a database with the files. */
export const storedSqlState = (dataSource: DataSource, files: readonly SqlFile[]): Promise<StoredSqlState> =>
  stateOf(dataSource, hashOf(files), versionOf(dataSource));

/** `changed`: differs from the files or is missing. `newer`: that of a newer version of the service. */
type StoredSqlState = 'current' | 'changed' | 'newer';

async function stateOf(
  database: Pick<QueryRunner, 'query'> | Pick<DataSource, 'query'>,
  hash: string,
  version: number,
): Promise<StoredSqlState> {
  const query = (text: string) => database.query(text) as Promise<Record<string, unknown>[]>;
  // Not CREATE TABLE IF NOT EXISTS: a role that serves requests only may not create tables.
  const [found] = await query(`SELECT to_regclass('schema_sql') IS NOT NULL AS exists`);
  if (!found?.['exists']) return 'changed';
  const [last] = await query('SELECT hash, version FROM schema_sql');
  if (last?.['hash'] === hash) return 'current';
  return Number(last?.['version']) > version ? 'newer' : 'changed';
}

/** The stored functions and views of one schema. Call its methods in one transaction, under the migration lock. */
export class StoredSql {
  private readonly hash: string;

  constructor(
    private readonly runner: QueryRunner,
    private readonly files: readonly SqlFile[],
    private readonly version: number,
  ) {
    this.hash = hashOf(files);
  }

  /** @returns whether the database has this set, or the set of a newer version, which this version does not replace */
  async isCurrent(): Promise<boolean> {
    return (await stateOf(this.runner, this.hash, this.version)) !== 'changed';
  }

  /**
   * Drops the objects of the set applied last. A database without a record was made when migrations created functions
   * and views: all of them are dropped, except trigger functions, which migrations still own.
   * @throws when another object (an index, a default, a view of the operator) depends on one of them
   */
  async drop(): Promise<void> {
    await this.runner.query(RECORD);
    const rows = (await this.runner.query('SELECT objects FROM schema_sql')) as { objects: string[] }[];
    const objects = rows[0]?.objects ?? (await this.existing());
    if (objects.length > 0) await this.runner.query(dropping(objects.toReversed()));
  }

  /** Creates the objects of the set. Call {@link drop} first. */
  async create(): Promise<void> {
    const before = new Set(await this.existing());
    for (const { name, text } of this.files) {
      await this.runner.query(text).catch((cause: unknown) => {
        throw new Error(`${name}.sql: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
      });
    }
    const objects = (await this.existing()).filter((object) => !before.has(object));
    await this.runner.query(
      `INSERT INTO schema_sql (hash, version, objects, applied_at) VALUES ($1, $2, $3, now())
         ON CONFLICT (one) DO UPDATE SET (hash, version, objects, applied_at)
           = (excluded.hash, excluded.version, excluded.objects, excluded.applied_at)`,
      [this.hash, this.version, objects],
    );
  }

  private async existing(): Promise<string[]> {
    return ((await this.runner.query(OBJECTS)) as { name: string }[]).map(({ name }) => name);
  }
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * Drops objects that may depend on one another. An object on which others depend is dropped after them, in another round. CASCADE is
 * not used, so a table never loses a default, an index or a constraint.
 */
const dropping = (objects: readonly string[]): string => `
DO $do$
DECLARE
  remaining text[] := ARRAY[${objects.map(literal).join(', ')}];
  blocked text[];
  object text;
BEGIN
  WHILE cardinality(remaining) > 0 LOOP
    blocked := '{}';
    FOREACH object IN ARRAY remaining LOOP
      BEGIN
        EXECUTE 'DROP ' || regexp_replace(object, ' ', ' IF EXISTS ');
      EXCEPTION WHEN dependent_objects_still_exist THEN
        blocked := blocked || object;
      END;
    END LOOP;
    -- No object could be dropped in this round: this statement raises the error that names the dependent object.
    IF cardinality(blocked) = cardinality(remaining) THEN
      EXECUTE 'DROP ' || regexp_replace(blocked[1], ' ', ' IF EXISTS ');
    END IF;
    remaining := blocked;
  END LOOP;
END $do$`;
