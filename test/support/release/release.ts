import pg from 'pg';
import type { MigrationClass } from '../../../src/platform/database/schema/schema-part.js';
import type { Statement } from '../../../src/platform/database/statement.js';
import type { SqlFile } from '../../../src/platform/database/schema/stored-sql.js';
import { describeStatement } from './description.ts';

/** A PostgreSQL schema of the installation: how it is made, and the statements that see only this schema. */
export interface Namespace {
  name: string;
  migrations: MigrationClass[];
  sql: SqlFile[];
  statements: Pick<Statement<unknown>, 'name' | 'text'>[];
}

/** A statement as a release sends it, with the types that PostgreSQL gave it. */
interface RecordedStatement {
  schema: string;
  name: string;
  text: string;
  parameters: string[];
  /** Name and type of each column. */
  results: string[];
}

interface Column {
  type: string;
  /** An INSERT that does not name the column fails. */
  required: boolean;
}

interface Tables {
  /** By `schema.table`, then by column. */
  columns: Record<string, Record<string, Column>>;
  /** Values of the enumerations, by `schema.type`. */
  labels: Record<string, string[]>;
}

/** Everything of a release that its processes use of the database. */
export interface Release extends Tables {
  version: string;
  schemas: { name: string; migrations: string[]; sql: SqlFile[] }[];
  statements: RecordedStatement[];
}

/** A part of a release that the schema of a database no longer serves. */
export interface Break {
  /** `statement notes.find`, `column public.notes.title`: the key of `RETIRED`. */
  what: string;
  why: string;
}

const COLUMNS = `
SELECT n.nspname || '.' || c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
       a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS required
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('schema_migrations', 'schema_sql')
   AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY 1, a.attnum`;

const LABELS = `
SELECT n.nspname || '.' || t.typname AS name, array_agg(e.enumlabel::text ORDER BY e.enumsortorder) AS labels
  FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid JOIN pg_namespace n ON n.oid = t.typnamespace
 WHERE n.nspname = ANY ($1) GROUP BY 1 ORDER BY 1`;

/** @returns the name under which TypeORM records the migration */
export const nameOf = (migration: MigrationClass): string => new migration().name as string;

/** @param url of a database that this version has migrated */
export async function recordRelease(
  url: string,
  version: string,
  namespaces: readonly Namespace[],
): Promise<Release> {
  const schemas = namespaces.map(({ name, migrations, sql }) => ({
    name,
    migrations: migrations.map(nameOf),
    sql,
  }));
  return connected(url, async (client) => {
    const statements: RecordedStatement[] = [];
    for (const { name: schema, statements: own } of namespaces)
      for (const { name, text } of own) statements.push(await typed(client, schema, name, text));
    return { version, schemas, statements, ...(await tablesOf(client, schemas)) };
  });
}

/** @returns the differences that a process of the release would notice, in the order of the release */
export const findBreaks = (release: Release, url: string): Promise<Break[]> =>
  connected(url, async (client) => {
    const breaks: Break[] = [];
    for (const statement of release.statements) {
      const why = await brokenBy(client, statement);
      if (why !== undefined) breaks.push({ what: `statement ${statement.name}`, why });
    }
    return [...breaks, ...tableBreaks(release, await tablesOf(client, release.schemas))];
  });

async function brokenBy(client: pg.Client, statement: RecordedStatement): Promise<string | undefined> {
  try {
    const today = await typed(client, statement.schema, statement.name, statement.text);
    for (const part of ['parameters', 'results'] as const) {
      const [before, after] = [statement[part].join(', '), today[part].join(', ')];
      // A prepared statement whose result changes fails, also when only a column is added.
      if (before !== after) return `${part}: (${before}) is now (${after})`;
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function tableBreaks(before: Tables, after: Tables): Break[] {
  const breaks: Break[] = [];
  for (const [table, columns] of Object.entries(before.columns)) {
    const today = after.columns[table] ?? {};
    for (const [name, column] of Object.entries(columns)) {
      const what = `column ${table}.${name}`;
      const now = today[name];
      if (!now) breaks.push({ what, why: 'does not exist' });
      else if (now.type !== column.type) breaks.push({ what, why: `${column.type} is now ${now.type}` });
      else if (now.required && !column.required) breaks.push({ what, why: 'needs a value now' });
    }
    for (const [name, { required }] of Object.entries(today))
      if (required && !columns[name])
        breaks.push({ what: `column ${table}.${name}`, why: 'is new and needs a value' });
  }
  for (const [type, labels] of Object.entries(before.labels))
    for (const label of labels)
      if (!after.labels[type]?.includes(label))
        breaks.push({ what: `value ${type}.${label}`, why: 'does not exist' });
  return breaks;
}

async function typed(
  client: pg.Client,
  schema: string,
  name: string,
  text: string,
): Promise<RecordedStatement> {
  await client.query(`SET search_path = ${schema}`);
  const { parameters, results } = await describeStatement(client, text);
  const { rows } = await client.query<{ type: string }>(
    `SELECT format_type(id, NULL) AS type FROM unnest($1::oid[]) WITH ORDINALITY AS given (id, n) ORDER BY n`,
    [[...parameters, ...results.map(({ type }) => type)]],
  );
  const types = rows.map(({ type }) => type);
  return {
    schema,
    name,
    text,
    parameters: types.slice(0, parameters.length),
    results: results.map((column, n) => `${column.name} ${types[parameters.length + n]}`),
  };
}

async function tablesOf(client: pg.Client, schemas: readonly { name: string }[]): Promise<Tables> {
  const names = schemas.map(({ name }) => name);
  // Types are then spelled with their schema, unless PostgreSQL has them.
  await client.query(`SET search_path = pg_catalog`);
  const { rows } = await client.query<Column & { table: string; column: string }>(COLUMNS, [names]);
  const columns: Tables['columns'] = {};
  for (const { table, column, type, required } of rows) (columns[table] ??= {})[column] = { type, required };
  const labels = await client.query<{ name: string; labels: string[] }>(LABELS, [names]);
  return { columns, labels: Object.fromEntries(labels.rows.map((row) => [row.name, row.labels])) };
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
