import pg from 'pg';
import { Db } from '../../src/platform/database/db.js';
import { schema } from '../../src/schema.js';
import { PeriodicJobs } from '../../src/platform/jobs/periodic-jobs.js';
import { TestApp } from '../support/app.ts';
import { TABLE_GROWTH, TRIMMED_ROWS } from '../support/database/table-growth.ts';

interface Column {
  name: string;
  type: string;
  kind: string;
  required: boolean;
  first_label: string | null;
}

const COLUMNS = `
  SELECT attname AS name, typname AS type, typtype AS kind, attnotnull AND NOT atthasdef AS required,
         (SELECT enumlabel FROM pg_enum WHERE enumtypid = type.oid ORDER BY enumsortorder LIMIT 1) AS first_label
    FROM pg_attribute JOIN pg_type type ON type.oid = atttypid
   WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''`;

const DAY_MS = 86_400_000;
/** Longer than every retention time, of which the audit log has the longest: 400 days. */
const LONG_AGO = new Date(Date.now() - 500 * DAY_MS);
const TOMORROW = new Date(Date.now() + DAY_MS);

/** A value for a required column that no test reads. */
function filler({ type, kind, first_label }: Column, id: string): unknown {
  if (kind === 'e') return first_label;
  if (type.startsWith('_')) return '{}';
  switch (type) {
    case 'uuid':
      return id;
    case 'text':
      return id;
    case 'bytea':
      return Buffer.from(id.replaceAll('-', '').repeat(2), 'hex');
    case 'json':
    case 'jsonb':
      return '{}';
    case 'bool':
      return false;
    case 'inet':
      return '192.0.2.1';
    default:
      return 1;
  }
}

/** Inserts a row whose times are all the given one, without its parents. */
async function insert(
  client: pg.Client,
  table: string,
  id: string,
  at: Date,
  row: Record<string, unknown> = {},
) {
  const { rows } = await client.query<Column>(COLUMNS, [table]);
  const values = new Map<string, unknown>();
  for (const column of rows) {
    if (column.type === 'timestamptz') values.set(column.name, at);
    else if (column.required) values.set(column.name, filler(column, id));
  }
  for (const [name, value] of Object.entries(row)) values.set(name, value);
  const names = [...values.keys()];
  await client.query(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    [...values.values()],
  );
}

/** Drops the checks of a table: the rows of this test have arbitrary values. */
async function dropChecks(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT quote_ident(conname) AS name FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'`,
    [table],
  );
  for (const { name } of rows) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
}

const count = async (client: pg.Client, table: string): Promise<number> =>
  (await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)).rows[0]?.count ?? 0;

const trimmed = TABLE_GROWTH.flatMap(({ table, kind }) => (kind === 'trimmedBy' ? [table] : []));

describe('growth of tables', () => {
  let app: TestApp;
  let client: pg.Client;
  const before = new Map<string, number>();

  beforeAll(async () => {
    app = await TestApp.start();
    client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    // Rows without parents, and no triggers.
    await client.query('SET session_replication_role = replica');
    for (const table of trimmed) {
      const row = TRIMMED_ROWS[table];
      await dropChecks(client, table);
      before.set(table, await count(client, table));
      await insert(client, table, '01890000-0000-7000-8000-000000000001', LONG_AGO, row);
      await insert(client, table, '01890000-0000-7000-8000-000000000002', TOMORROW, row);
    }
    await client.query(`DELETE FROM job_runs`);
    await app.get(PeriodicJobs).runDue();
  });
  afterAll(async () => {
    await client?.end();
    await app?.stop();
  });

  test('each table has an entry, and each entry a table', async () => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname NOT LIKE 'schema\\_%'`,
    );
    expect(TABLE_GROWTH.map(({ table }) => table).toSorted()).toEqual(
      rows.map(({ name }) => name).toSorted(),
    );
  });

  test('each entry is that of the module that owns the table', () => {
    const { dataSource } = app.get(Db);
    const owners = new Map(
      schema.parts.flatMap(({ owner, entities }) =>
        Object.values(entities)
          .flat()
          .map((entity): [string, string] => [dataSource.getMetadata(entity).tableName, owner]),
      ),
    );
    expect(TABLE_GROWTH.filter(({ table, owner }) => owners.get(table) !== owner)).toEqual([]);
  });

  test('the jobs of all entries exist', async () => {
    const { rows } = await client.query<{ name: string }>('SELECT name FROM job_runs');
    const jobs = new Set(rows.map(({ name }) => name));
    const named = TABLE_GROWTH.filter(({ kind }) => kind === 'trimmedBy' || kind === 'cleanedBy');
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(({ by }) => !jobs.has(by as string))).toEqual([]);
  });

  test.each(trimmed)('%s: its job deletes an old row and keeps a recent one', async (table) => {
    expect(await count(client, table)).toBe((before.get(table) ?? 0) + 1);
    const times = await client.query<Column>(COLUMNS, [table]);
    const clock = times.rows.filter(({ type }) => type === 'timestamptz').map(({ name }) => name);
    const old = clock.map((name) => `${name} = $1`).join(' AND ');
    expect((await client.query(`SELECT FROM ${table} WHERE ${old}`, [LONG_AGO])).rowCount).toBe(0);
  });
});
