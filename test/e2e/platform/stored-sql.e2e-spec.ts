import { pathToFileURL } from 'node:url';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { Config } from '../../../src/config/config.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { migrate } from '../../../src/platform/database/schema/migrate.js';
import { sqlMigration } from '../../../src/platform/database/schema/schema-part.js';
import type { SqlFile } from '../../../src/platform/database/schema/stored-sql.js';
import { emptyDatabase } from '../../support/database/database.ts';
import { until } from '../../support/until.ts';

const TABLE = 'CREATE EXTENSION pg_trgm; CREATE TABLE things (id int PRIMARY KEY, name text);';
const GREETING: SqlFile = {
  home: 'workspace',
  name: 'greeting',
  text: `CREATE TYPE greeting AS (text text);
         CREATE FUNCTION greet(p_name text) RETURNS greeting LANGUAGE sql AS $$ SELECT ROW('Hello ' || p_name)::greeting $$;`,
};
const VIEW: SqlFile = {
  home: 'workspace',
  name: 'view',
  text: 'CREATE VIEW thing_views AS SELECT id, (greet(name)).text AS greeting FROM things;',
};

describe('stored functions and views', () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let open: DataSource[];

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'stored-sql-'));
    database = await emptyDatabase();
    open = [];
  });
  afterEach(async () => {
    await Promise.all(open.map((dataSource) => dataSource.destroy()));
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A process of a version of the service with these migrations, by name. */
  const connect = async (migrations: Record<string, string>): Promise<DataSource> => {
    const classes = Object.entries(migrations).map(([name, sql]) => {
      const file = path.join(folder, `${name}.sql`);
      writeFileSync(file, sql);
      return sqlMigration(name, pathToFileURL(file));
    });
    const part = { entities: [], migrations: classes, sql: [] };
    const config = Config.parse({ DATABASE_URL: database.url, DATABASE_POOL_MAX: '2' });
    const dataSource = createDataSource(config, database.url, part, { timeouts: false });
    open.push(dataSource);
    return dataSource.initialize();
  };

  const greetings = (source: DataSource) => source.query('SELECT * FROM thing_views ORDER BY id');
  const insert = (source: DataSource) =>
    source.query(`INSERT INTO things (id, name) VALUES (1, 'Ann'), (2, 'Ben')`);

  test('are created after the migrations, and not replaced while their text is the same', async () => {
    const source = await connect({ Things1700000000001: TABLE });
    expect(await migrate(source, [GREETING, VIEW])).toEqual(['Things1700000000001']);
    await insert(source);
    expect(await greetings(source)).toEqual([
      { id: 1, greeting: 'Hello Ann' },
      { id: 2, greeting: 'Hello Ben' },
    ]);
    const oid = () => source.query(`SELECT 'thing_views'::regclass::oid AS oid`);
    const first = await oid();
    expect(await migrate(source, [GREETING, VIEW])).toEqual([]);
    expect(await oid()).toEqual(first);
  });

  test('are replaced when their text changes: other signatures, columns and types included; the data stays', async () => {
    const source = await connect({ Things1700000000001: TABLE });
    await migrate(source, [GREETING, VIEW]);
    await insert(source);
    const changed: SqlFile[] = [
      {
        home: 'workspace',
        name: 'greeting',
        text: `CREATE TYPE salute AS (words text, loud boolean);
               CREATE FUNCTION greet(p_name text, p_loud boolean DEFAULT false) RETURNS salute LANGUAGE sql
               AS $$ SELECT ROW('Hi ' || p_name, p_loud)::salute $$;`,
      },
      {
        home: 'workspace',
        name: 'view',
        text: 'CREATE VIEW thing_views AS SELECT id, (greet(name)).* FROM things;',
      },
    ];
    expect(await migrate(source, changed)).toEqual([]);
    expect(await greetings(source)).toEqual([
      { id: 1, words: 'Hi Ann', loud: false },
      { id: 2, words: 'Hi Ben', loud: false },
    ]);
    const left = await source.query(
      `SELECT to_regtype('greeting') AS type, to_regprocedure('greet(text)') AS function`,
    );
    expect(left).toEqual([{ type: null, function: null }]);
    expect(await source.query(`SELECT similarity('a', 'a') AS extension`)).toEqual([{ extension: 1 }]);
  });

  test('are dropped before a migration that changes a column they use', async () => {
    await migrate(await connect({ Things1700000000001: TABLE }), [GREETING, VIEW]);
    const migrations = {
      Things1700000000001: TABLE,
      Rename1700000000002: 'ALTER TABLE things ALTER COLUMN id TYPE bigint;',
    };
    const source = await connect(migrations);
    expect(await migrate(source, [GREETING, VIEW])).toEqual(['Rename1700000000002']);
    await insert(source);
    expect(await greetings(source)).toMatchObject([{ id: '1' }, { id: '2' }]);
  });

  test('keep their previous state, as do the tables, when a file or a migration fails', async () => {
    const source = await connect({ Things1700000000001: TABLE });
    await migrate(source, [GREETING, VIEW]);
    await insert(source);
    const broken: SqlFile = {
      home: 'workspace',
      name: 'broken',
      text: 'CREATE VIEW broken AS SELECT missing FROM things;',
    };
    await expect(migrate(source, [{ ...GREETING, text: `${GREETING.text}\n` }, broken])).rejects.toThrow(
      'broken.sql: column "missing" does not exist',
    );
    expect(await greetings(source)).toHaveLength(2);
    const next = await connect({
      Things1700000000001: TABLE,
      Add1700000000002: 'ALTER TABLE things ADD COLUMN extra int;',
      Bad1700000000003: 'ALTER TABLE things ADD COLUMN extra int;',
    });
    await expect(migrate(next, [GREETING])).rejects.toThrow(
      'column "extra" of relation "things" already exists',
    );
    expect(await greetings(source)).toHaveLength(2);
    expect(await source.query('SELECT * FROM things')).toEqual([
      { id: 1, name: 'Ann' },
      { id: 2, name: 'Ben' },
    ]);
  });

  test('are applied once by many processes that start at once', async () => {
    const sources = await Promise.all(
      Array.from({ length: 6 }, () => connect({ Things1700000000001: TABLE })),
    );
    const applied = await Promise.all(sources.map((source) => migrate(source, [GREETING, VIEW])));
    expect(applied.flat()).toEqual(['Things1700000000001']);
    const changed = [GREETING, { ...VIEW, text: VIEW.text.replace('AS greeting', 'AS hello') }];
    await Promise.all(sources.map((source) => migrate(source, changed)));
    await insert(sources[0] as DataSource);
    expect(await greetings(sources[1] as DataSource)).toMatchObject([{ hello: 'Hello Ann' }, { id: 2 }]);
    expect(await (sources[0] as DataSource).query('SELECT count(*)::int AS rows FROM schema_sql')).toEqual([
      { rows: 1 },
    ]);
  });

  test('let readers pass while a long transaction, such as a dump, keeps a migration from its lock', async () => {
    const source = await connect({ Things1700000000001: TABLE });
    await migrate(source, [GREETING, VIEW]);
    await insert(source);
    const dump = source.createQueryRunner();
    await dump.startTransaction();
    await dump.query('LOCK TABLE things IN ACCESS SHARE MODE');
    const next = await connect({
      Things1700000000001: TABLE,
      Add1700000000002: 'ALTER TABLE things ADD COLUMN extra int;',
    });
    const migration = migrate(next, [GREETING, VIEW]);
    await until('the migration to wait', async () => {
      const waiting = await dump.query(
        `SELECT FROM pg_locks WHERE relation = 'things'::regclass AND NOT granted`,
      );
      return waiting.length > 0;
    });
    expect(await greetings(source)).toHaveLength(2);
    await dump.commitTransaction();
    await dump.release();
    expect(await migration).toEqual(['Add1700000000002']);
  });

  test('replace those that migrations of earlier versions created, but not trigger functions', async () => {
    const trigger = `CREATE FUNCTION upper_name() RETURNS trigger LANGUAGE plpgsql
                     AS $$ BEGIN new.name := upper(new.name); RETURN new; END $$;
                     CREATE TRIGGER upper_name BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION upper_name();`;
    const old = `${TABLE} ${GREETING.text} ${VIEW.text} CREATE FUNCTION unused() RETURNS int LANGUAGE sql AS 'SELECT 1'; ${trigger}`;
    const before = await connect({ Things1700000000001: old });
    await before.runMigrations();
    await insert(before);
    const source = await connect({ Things1700000000001: `${TABLE} ${trigger}` });
    expect(await migrate(source, [GREETING, VIEW])).toEqual([]);
    expect(await greetings(source)).toEqual([
      { id: 1, greeting: 'Hello ANN' },
      { id: 2, greeting: 'Hello BEN' },
    ]);
    expect(await source.query(`SELECT to_regprocedure('unused()') AS unused`)).toEqual([{ unused: null }]);
  });

  test('are never dropped while an index, a default or a view of the operator uses them', async () => {
    const source = await connect({ Things1700000000001: TABLE });
    const file: SqlFile = {
      home: 'workspace',
      name: 'key',
      text: `CREATE FUNCTION key(p text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lower(p) $$;`,
    };
    await migrate(source, [file]);
    await source.query('CREATE INDEX things_key ON things (key(name))');
    await expect(migrate(source, [{ ...file, text: `${file.text}\n` }])).rejects.toThrow(
      'cannot drop function key(text) because other objects depend on it',
    );
    expect(await source.query(`SELECT to_regclass('things_key') IS NOT NULL AS kept`)).toEqual([
      { kept: true },
    ]);
  });

  test('of a newer version are kept by an older one, and are created again by a newer one without migrations', async () => {
    const older = await connect({ Things1700000000001: TABLE });
    await migrate(older, [GREETING, VIEW]);
    const sameTables = [GREETING, { ...VIEW, text: VIEW.text.replace('AS greeting', 'AS hello') }];
    await migrate(older, sameTables);
    await migrate(older, [GREETING, VIEW]);
    await insert(older);
    expect(await greetings(older)).toMatchObject([{ greeting: 'Hello Ann' }, { greeting: 'Hello Ben' }]);
    const newer = await connect({
      Things1700000000001: TABLE,
      Add1700000000002: 'ALTER TABLE things ADD COLUMN extra int;',
    });
    await migrate(newer, sameTables);
    await migrate(older, [GREETING, VIEW]);
    expect(await greetings(newer)).toMatchObject([{ hello: 'Hello Ann' }, { hello: 'Hello Ben' }]);
  });
});
