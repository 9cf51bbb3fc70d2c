import { Db } from '../../src/platform/database/db.js';
import { TestApp } from '../support/app.ts';

/** Tables that belong to no workspace: the installation's own, and people, who may belong to several. */
const SHARED = [
  'accounts',
  'account_links',
  'sessions',
  'signing_keys',
  'access_changes',
  'second_factors',
  'recovery_codes',
  'rate_limits',
  'guess_locks',
  'tenants',
  'platform_secrets',
  'oidc_records',
  'oidc_clients',
  'job_runs',
  'schema_migrations',
  'schema_sql',
];

/** Tables of the migrations themselves, which have no entity. */
const OWN = ['schema_migrations', 'schema_sql'];

/** How an entity's column type is spelled in PostgreSQL's catalogue. */
const SPELLING: Record<string, string> = { timestamptz: 'timestamp with time zone', int: 'integer' };

interface ColumnRow {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
}

describe('the schema', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  const tables = async () =>
    (
      await app.sql<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1`,
      )
    ).map(({ name }) => name);

  const entities = () => app.get<Db>(Db).dataSource.entityMetadatas;

  /** One line for each column, as the entities say. */
  const declared = () =>
    entities()
      .flatMap(({ tableName, columns }) =>
        columns.map((column) => {
          const type = column.enumName ?? SPELLING[String(column.type)] ?? String(column.type);
          return `${tableName}.${column.databaseName} ${type}${column.isArray ? '[]' : ''}${column.isNullable ? ' null' : ''}`;
        }),
      )
      .toSorted();

  test('has an entity for each table and a table for each entity', async () => {
    expect(
      entities()
        .map(({ tableName }) => tableName)
        .toSorted(),
    ).toEqual((await tables()).filter((name) => !OWN.includes(name)));
  });

  test('has the columns, types and nullability the entities declare, and no others', async () => {
    const rows = await app.sql<ColumnRow>(
      `SELECT c.relname AS table, a.attname AS column, NOT a.attnotnull AS nullable,
              regexp_replace(format_type(a.atttypid, a.atttypmod), '\\(\\d+\\)', '') AS type
         FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL ($1)
          AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''`,
      [OWN],
    );
    const migrated = rows.map(
      ({ table, column, type, nullable }) => `${table}.${column} ${type}${nullable ? ' null' : ''}`,
    );
    expect(declared()).toEqual(migrated.toSorted());
  });

  test('has the primary keys the entities declare', async () => {
    const rows = await app.sql<{ table: string; columns: string[] }>(
      `SELECT c.relname AS table, array_agg(a.attname::text ORDER BY k.n) AS columns
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, n)
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE i.indisprimary AND c.relnamespace = 'public'::regnamespace AND c.relname <> ALL ($1)
        GROUP BY c.relname ORDER BY 1`,
      [OWN],
    );
    const declaredKeys = entities().map(({ tableName, primaryColumns }) => ({
      table: tableName,
      columns: primaryColumns.map((column) => column.databaseName),
    }));
    expect(declaredKeys.toSorted((a, b) => (a.table < b.table ? -1 : 1))).toEqual(rows);
  });

  test('has tenant_id first in every primary key, unique index and foreign key of a workspace table', async () => {
    const rows = await app.sql<{ table: string; first: string; name: string }>(
      `SELECT c.relname AS table, coalesce(a.attname::text, '(an expression)') AS first, x.relname AS name
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
         LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace
        UNION ALL
       SELECT c.relname, a.attname::text, k.conname
         FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
        WHERE k.contype = 'f' AND c.relnamespace = 'public'::regnamespace`,
    );
    const checked = rows.filter(({ table }) => !SHARED.includes(table));
    expect(new Set(checked.map(({ table }) => table))).toEqual(
      new Set((await tables()).filter((name) => !SHARED.includes(name))),
    );
    expect(checked.filter(({ first }) => first !== 'tenant_id')).toEqual([]);
    const nullable = await app.sql(
      `SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'tenant_id' AND NOT a.attnotnull AND c.relkind IN ('r', 'p') AND c.relname <> ALL ($1)`,
      [SHARED],
    );
    expect(nullable).toEqual([]);
  });

  test('has no table without tenant_id beyond the listed ones', async () => {
    const rows = await app.sql<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id')`,
    );
    expect(rows.map(({ name }) => name).filter((name) => !SHARED.includes(name))).toEqual([]);
  });
});
