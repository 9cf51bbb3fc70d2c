import { spawnSync } from 'node:child_process';
import { Db } from '../../src/platform/database/db.js';
import { TestApp } from '../support/app.ts';

/** Tables that belong to no workspace: those of the installation, and those of accounts, which may be in several workspaces. */
const SHARED = [
  'account_tokens',
  'accounts',
  'account_links',
  'sessions',
  'signing_keys',
  'push_keys',
  'access_changes',
  'second_factors',
  'passkey_challenges',
  'passkeys',
  'recovery_codes',
  'rate_limits',
  'guess_locks',
  'cells',
  'workspace_cells',
  'account_cells',
  'commit_decisions',
  'workspace_moves',
  'tenants',
  'platform_secrets',
  'oidc_records',
  'oidc_clients',
  'tenant_issuer_links',
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

interface IndexRow {
  table: string;
  name: string;
  unique: boolean;
  columns: string[];
  condition: string;
  expressible: boolean;
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

  /** One line for each column, as the entities declare it. */
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

  test('has the indexes the entities declare, and no other that TypeORM can express', async () => {
    const rows = await app.sql<IndexRow>(
      `SELECT c.relname AS table, x.relname AS name, i.indisunique AS unique,
              ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, n)
                      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.n) AS columns,
              coalesce(pg_get_expr(i.indpred, i.indrelid), '') AS condition,
              -- TypeORM knows neither expressions, included columns, other methods nor descending order.
              m.amname = 'btree' AND i.indexprs IS NULL AND i.indnatts = i.indnkeyatts
                AND NOT EXISTS (SELECT FROM unnest(i.indoption::int2[]) AS o WHERE o <> 0) AS expressible
         FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
         JOIN pg_am m ON m.oid = x.relam
        WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisprimary`,
    );
    const line = ({ table, name, unique, columns, condition }: Omit<IndexRow, 'expressible'>) =>
      `${table}: ${name} ${unique ? 'unique ' : ''}(${columns.join()}) ${condition.replaceAll(/[()\s]/g, '')}`.trim();
    const declaredIndexes = entities().flatMap(({ tableName: table, indices }) =>
      indices.map((index) => ({
        table,
        name: index.name,
        unique: index.isUnique,
        columns: index.columns.map(({ databaseName }) => databaseName),
        condition: index.where ?? '',
      })),
    );
    const stored = rows.filter(({ expressible }) => expressible);
    expect(declaredIndexes.map(line).toSorted()).toEqual(stored.map(line).toSorted());
  });

  test('has columns with the names of the properties', () => {
    const renamed = entities().flatMap(({ tableName, columns }) =>
      columns
        .filter(({ propertyName, databaseName }) => propertyName !== databaseName)
        .map(({ propertyName }) => `${tableName}.${propertyName}`),
    );
    expect(renamed).toEqual([]);
  });

  test('has the foreign keys that the entities declare, and no others', async () => {
    const rows = await app.sql<{ key: string }>(
      `SELECT child.relname || ' (' || array_to_string(ARRAY(
                SELECT a.attname FROM unnest(k.conkey) WITH ORDINALITY AS u (attnum, n)
                  JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.attnum ORDER BY u.n), ',')
              || ') -> ' || parent.relname || ' (' || array_to_string(ARRAY(
                SELECT a.attname FROM unnest(k.confkey) WITH ORDINALITY AS u (attnum, n)
                  JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.attnum ORDER BY u.n), ',')
              || ') ' || CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'NO ACTION' END AS key
         FROM pg_constraint k JOIN pg_class child ON child.oid = k.conrelid JOIN pg_class parent ON parent.oid = k.confrelid
        WHERE k.contype = 'f' AND k.conparentid = 0 AND child.relnamespace = 'public'::regnamespace`,
    );
    const names = (columns: { databaseName: string }[]) =>
      columns.map(({ databaseName }) => databaseName).join();
    const declaredKeys = entities().flatMap(({ tableName, foreignKeys }) =>
      foreignKeys.map(
        ({ columns, referencedEntityMetadata: target, referencedColumns, onDelete }) =>
          `${tableName} (${names(columns)}) -> ${target.tableName} (${names(referencedColumns)}) ${onDelete}`,
      ),
    );
    expect(declaredKeys.toSorted()).toEqual(rows.map(({ key }) => key).toSorted());
  });

  test('matches the command line of TypeORM: every migration is applied', () => {
    const cli = spawnSync(
      process.execPath,
      ['node_modules/typeorm/cli.js', 'migration:show', '-d', 'ormconfig.ts'],
      {
        encoding: 'utf8',
        // CI would make the command line print in colour.
        env: {
          ...process.env,
          DATABASE_URL: app.databaseUrl,
          NODE_OPTIONS: '',
          NO_COLOR: '1',
          FORCE_COLOR: '0',
        },
      },
    );
    expect(cli.stderr).toBe('');
    const lines = cli.stdout.trim().split('\n');
    expect(lines).toHaveLength(app.get<Db>(Db).dataSource.migrations.length);
    expect(lines.filter((line) => !line.startsWith('[X]'))).toEqual([]);
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
