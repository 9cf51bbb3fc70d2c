import { readFileSync } from 'node:fs';
import pg from 'pg';
import { migrateDatabase } from '../../app.prepare.js';
import type { Config } from '../../config/config.js';
import { migrateMailService } from '../../mail-service/mail-service.js';
import { MAIL_SCHEMA, mailServiceSchema } from '../../mail-service/mail-service.schema.js';
import { keptRaws, rawMessageKey } from '../../mail-service/storage/raw-messages.js';
import { keptBlobs } from '../../platform/blobs/blobs.repository.js';
import { objectName } from '../../platform/blobs/store/blob-store.js';
import type { MigrationClass, Schema } from '../../platform/database/schema/schema-part.js';
import { schema } from '../../schema.js';
import type { SequenceValue } from '../store/manifest.js';

/** A file of the blob store that a row refers to. */
export interface NeededFile {
  /** The name in the blob store. */
  name: string;
  /** Undefined means that the rows do not contain size and checksum. */
  bytes?: number;
  sha256?: string;
}

/** How rows refer to files. */
export interface FilesOfRows {
  kind: string;
  /** SQL of the rows with files, ordered by the names of the files. */
  sql: string;
  toFile: (row: Record<string, string>) => NeededFile;
}

/** A PostgreSQL schema of the product. */
export interface OwnSchema {
  name: string;
  definition: Schema;
  migrate: (config: Config, databaseUrl: string, definition: Schema) => Promise<unknown>;
  files: FilesOfRows;
}

/** Tables that the migrations of a restore fill. */
export const DERIVED_TABLES = ['schema_migrations', 'schema_sql'];

/** All schemas, in the order of migration. */
export const OWN_SCHEMAS: readonly OwnSchema[] = [
  {
    name: 'public',
    definition: schema,
    migrate: migrateDatabase,
    files: {
      kind: 'files',
      sql: keptBlobs.text,
      toFile: ({ tenant_id: tenantId = '', id = '', size, sha256 }) => ({
        name: objectName({ tenantId, id }),
        bytes: Number(size),
        sha256,
      }),
    },
  },
  {
    name: MAIL_SCHEMA,
    definition: mailServiceSchema,
    migrate: migrateMailService,
    files: {
      kind: 'mail',
      sql: keptRaws.text,
      toFile: ({ id = '' }) => ({ name: objectName(rawMessageKey(id)) }),
    },
  },
];

/** The name under which a migration is recorded. */
export const migrationName = (migration: MigrationClass): string => new migration().name as string;

/** Version of this program. */
export const productVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string })
    .version;

const { escapeIdentifier } = pg;

/** A table and its columns, without generated ones. */
export interface Table {
  name: string;
  columns: string[];
}

/** `schema.name` for SQL. */
export const qualified = (schema: string, name: string): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;

/** Column list for SQL. */
export const columnList = (columns: readonly string[]): string => columns.map(escapeIdentifier).join(', ');

/** Unlogged tables contain short-lived state, such as limits and connected devices: they are not copied. */
const TABLES = `
SELECT class.relname AS name,
       (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
         WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
  FROM pg_class AS class
 WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' AND relpersistence = 'p' AND relname <> ALL ($2)
 ORDER BY relname`;

const SEQUENCES = `
SELECT class.relname AS name FROM pg_class AS class
 WHERE relnamespace = to_regnamespace($1) AND relkind = 'S' AND NOT EXISTS (
   SELECT FROM pg_depend JOIN pg_class AS owner ON owner.oid = refobjid
    WHERE classid = 'pg_class'::regclass AND objid = class.oid AND deptype IN ('a', 'i') AND owner.relname = ANY ($2))
 ORDER BY class.relname`;

export async function tablesOf(client: pg.Client, schema: string): Promise<Table[]> {
  return (await client.query<Table>(TABLES, [schema, DERIVED_TABLES])).rows;
}

/** Sequences are not part of a snapshot: these are their present values, which are not below those of the copied rows. */
export async function sequencesOf(client: pg.Client, schema: string): Promise<SequenceValue[]> {
  const { rows } = await client.query<{ name: string }>(SEQUENCES, [schema, DERIVED_TABLES]);
  const values: SequenceValue[] = [];
  for (const { name } of rows) {
    const state = await client.query<{ lastValue: string; isCalled: boolean }>(
      `SELECT last_value::text AS "lastValue", is_called AS "isCalled" FROM ${qualified(schema, name)}`,
    );
    values.push(...state.rows.map((value) => ({ name, ...value })));
  }
  return values;
}

/** The schema that the connection uses. */
export async function currentSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ schema: string }>('SELECT current_schema() AS schema');
  return rows[0]!.schema;
}

/** Names of the applied migrations. Empty: the schema does not exist. */
export async function appliedMigrations(client: pg.Client, schema: string): Promise<string[]> {
  const table = qualified(schema, 'schema_migrations');
  const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    table,
  ]);
  if (!rows[0]?.exists) return [];
  const applied = await client.query<{ name: string }>(`SELECT name FROM ${table} ORDER BY id`);
  return applied.rows.map(({ name }) => name);
}
