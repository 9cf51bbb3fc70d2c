import { globSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { directory, statements, type Home, workspace } from '../../src/platform/database/statement.js';
import { Db } from '../../src/platform/database/db.js';
import { NoteFolder } from '../../src/modules/note-folders/note-folders.schema.js';
import { schema } from '../../src/schema.js';
import { TestApp } from '../support/app.ts';
import { LAZY_STATEMENTS } from '../support/database/lazy-statements.ts';
import { SqlUsage } from '../support/database/sql-usage.ts';

/** Trigger functions: they stay in migrations, with the table whose trigger they are. */
const TRIGGERS: Record<string, string> = {
  audit_log_is_append_only: 'audit_log',
  task_attachments_gone: 'task_attachments',
  task_members_leave: 'task_members',
  chat_attachments_gone: 'chat_attachments',
  recordings_deleted: 'recordings',
  contact_photo_dropped: 'contacts',
  collected_contact_deleted: 'contacts',
  sync_heads_grown: 'sync_heads',
  calendars_grown: 'calendars',
  access_changes_added: 'access_changes',
  workspace_is_moving: 'workspace_moves',
};

/** Tables of workspaces that a standby and a move do not copy, with the reason. */
const UNLOGGED: Record<string, string> = {
  presence_devices: 'devices of the last minutes, which report again',
};

/** An insertion of a whole row, followed by a use of FOUND. */
const INSERTED_ROW_FOUND = /INSERT INTO \w+(?: AS \w+)?\s+SELECT \w+\.\*[^;]*;[^;]*\bFOUND\b/;

/** Files with locks of a session, or LISTEN, and the connection that has them. */
const OWN_CONNECTIONS: Record<string, string> = {
  'src/backup/database/snapshots.ts': 'of the backup or import',
  'src/backup/workspace/import-workspace.ts': 'of the import',
  'src/demo/demo-workspace.ts': 'of the creation of the demo workspace, to the directory',
  'src/mail-service/delivery/queue.repository.ts': 'of a queue worker, to the database of the mail service',
  'src/platform/bus/bus.ts': 'of the listener, to the directory',
  'src/platform/database/embedded/embedded-database.ts': 'of the process, to the embedded server',
  'src/platform/database/embedded/locks.ts': 'of the server of a data directory, to the embedded server',
};

/** The statements of the application. Test files of one worker share its modules, and some make statements of their own. */
const ownStatements = () =>
  statements().filter(({ name, home }) => home !== 'mail_service' && !name.startsWith('test.'));

describe('homes of SQL', () => {
  let app: TestApp;
  let usage: SqlUsage;
  let homes: Map<string, string>;

  beforeAll(async () => {
    app = await TestApp.start();
    const [ann] = await app.tenant('acme', 'ann');
    for (const path of LAZY_STATEMENTS) expect((await ann.api.get(path)).status).toBe(200);
    const { dataSource } = app.get(Db);
    homes = new Map(
      schema.parts.flatMap(({ entities }) =>
        Object.entries(entities).flatMap(([home, list]) =>
          list.map((entity) => [dataSource.getMetadata(entity).tableName, home] as const),
        ),
      ),
    );
    const client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    usage = await SqlUsage.of(client);
    await client.end();
  });
  afterAll(() => app?.stop());

  /** The tables that a text touches although they are at another home. */
  const foreign = (home: string, text: string) =>
    [...usage.touched(text)].filter((table) => ![home, 'either'].includes(homes.get(table) as string));

  test('each table has one', () => {
    const tables = [...usage.tableNames].filter((name) => !name.startsWith('schema_'));
    expect([...homes.keys()].toSorted()).toEqual(tables.toSorted());
  });

  test('each statement touches tables of its home only', () => {
    const checked = ownStatements();
    expect(checked.length).toBeGreaterThan(240);
    const mixed = checked.map(({ name, home, text }) => ({ name, home, foreign: foreign(home, text) }));
    expect(mixed.filter((statement) => statement.foreign.length > 0)).toEqual([]);
  });

  test('each function and view touches tables of the home of its file only', () => {
    const declared = new Map(
      schema.sql.flatMap(({ home, text }) =>
        [...text.matchAll(/^CREATE (?:FUNCTION|VIEW) (\w+)/gm)].map(
          ([, name]) => [name as string, home] as const,
        ),
      ),
    );
    expect([...usage.stored.keys()].filter((name) => !TRIGGERS[name]).toSorted()).toEqual(
      [...declared.keys()].toSorted(),
    );
    const mixed = [...usage.stored].map(([name, text]) => {
      const home = declared.get(name) ?? (homes.get(TRIGGERS[name] as string) as string);
      return { name, home, foreign: foreign(home, text) };
    });
    expect(mixed.filter((routine) => routine.foreign.length > 0)).toEqual([]);
  });

  test('a workspace can be in a database of its own: no foreign key between the homes, and replication copies its tables', async () => {
    const keys = await app.sql(
      `SELECT conname, conrelid::regclass::text AS child, confrelid::regclass::text AS parent FROM pg_constraint WHERE contype = 'f'`,
    );
    expect(keys.length).toBeGreaterThan(80);
    const between = keys.filter(({ child, parent }: any) => homes.get(child) !== homes.get(parent));
    expect(between.map(({ conname }: any) => conname)).toEqual([]);
    const tables = await app.sql(
      `SELECT relname AS name, relpersistence = 'u' AS unlogged,
              EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary) AS keyed
         FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace`,
    );
    const inWorkspaces = tables.filter(({ name }: any) => homes.get(name) !== 'directory' && homes.has(name));
    expect(inWorkspaces.filter(({ keyed }: any) => !keyed)).toEqual([]);
    const unlogged = inWorkspaces.flatMap((table: any) => (table.unlogged ? [table.name] : []));
    expect(unlogged).toEqual(Object.keys(UNLOGGED));
  });

  test('no text names a schema, holds a lock of the session, or depends on rows that a router would hide', () => {
    const texts = [
      ...ownStatements().map(({ name, home, text }) => ({ name, home, text })),
      ...[...usage.stored].map(([name, text]) => ({ name, home: 'either', text })),
    ];
    const found = (pattern: RegExp) => texts.filter(({ text }) => pattern.test(text)).map(({ name }) => name);
    expect(found(/\bpublic\./)).toEqual([]);
    expect(found(/\bpg_(?:try_)?advisory_(?:un)?lock/)).toEqual([]);
    expect(found(/\bLISTEN\b|\bNOTIFY\b|\bpg_notify\b/)).toEqual(['bus.notify']);
    expect(statements().find(({ name }) => name === 'bus.notify')?.home).toBe('directory');
    // Citus reports FOUND wrongly after such an insertion; with VALUES it is right everywhere.
    expect(found(INSERTED_ROW_FOUND)).toEqual([]);
  });

  test.each([
    'INSERT INTO tasks SELECT upcoming.*; RETURN FOUND;',
    'INSERT INTO tasks AS task SELECT upcoming.* ON CONFLICT DO NOTHING;\n  IF NOT FOUND THEN',
    'INSERT INTO tasks SELECT upcoming.* FROM unnest(p_ids) AS id; v_done := FOUND;',
  ])('an insertion of a row whose FOUND is read is found: %s', (text) => {
    expect(text).toMatch(INSERTED_ROW_FOUND);
    expect(text.replace(/SELECT .*\.\*/, 'VALUES (upcoming.*)')).not.toMatch(INSERTED_ROW_FOUND);
  });

  test('session locks and LISTEN are on connections of their own, beside all pools', () => {
    const files = globSync('src/**/*.ts').filter((file) =>
      /pg_(?:try_)?advisory_(?:un)?lock|LISTEN \$/.test(readFileSync(file, 'utf8')),
    );
    expect(files.toSorted()).toEqual(Object.keys(OWN_CONNECTIONS));
  });

  test('each name of a statement has one text', () => {
    const [known] = ownStatements();
    expect(() => workspace.statement(known?.name as string, 'SELECT')).toThrow(RangeError);
  });

  test('objects of another module are used only where it publishes them', () => {
    const ownerOfName = new Map<string, string>();
    const shared: string[] = [];
    for (const file of globSync('src/**/*.ts')) {
      const owner = /src\/(?:modules\/)?([\w-]+)/.exec(file)?.[1] as string;
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
        /\.statement(?:<[^(]*>)?\(\s*['`]([a-z_]+)\./g,
      )) {
        const former = ownerOfName.get(name) ?? owner;
        if (former !== owner) shared.push(`${name}: ${former}, ${owner}`);
        ownerOfName.set(name, owner);
      }
    }
    // Of a name of two modules, the objects of one would count as those of the other.
    expect(shared).toEqual([]);
    const owners = new Map<string, string>(Object.entries(TRIGGERS).map(([name]) => [name, 'trigger']));
    const published = new Set(schema.parts.flatMap(({ publishes = [] }) => publishes));
    for (const { owner, entities, sql = [] } of schema.parts) {
      const tables = Object.values(entities)
        .flat()
        .map((entity) => app.get(Db).dataSource.getMetadata(entity).tableName);
      const stored = sql.flatMap(({ text }) =>
        [...text.matchAll(/^CREATE (?:FUNCTION|VIEW) (\w+)/gm)].map(([, name]) => name),
      );
      for (const name of [...tables, ...stored]) owners.set(name as string, owner);
    }
    expect([...published].filter((name) => !owners.has(name))).toEqual([]);
    // The kit composes names of statements out of the name of a table, or of a module, and of `_index`.
    const ownerOfStatement = (name: string): string => {
      const [first = ''] = name.split('.');
      const composed = first.replace(/_index$/, '');
      return ownerOfName.get(first) ?? owners.get(composed) ?? composed;
    };
    const users: [owner: string | undefined, text: string][] = [
      ...ownStatements()
        // Read the feeds and counters that the domains register, in one statement.
        .filter(({ name }) => name !== 'sync.state' && name !== 'sync.heads')
        .map(({ name, text }) => [ownerOfStatement(name), text] as [string, string]),
      ...[...usage.stored].map(([name, text]) => [owners.get(name), text] as [string, string]),
    ];
    const foreign = users
      .filter(([owner]) => owner !== 'trigger')
      .flatMap(([owner, text]) =>
        [...usage.direct(text)]
          .filter((name) => owners.get(name) !== owner && !published.has(name))
          .map((name) => `${owner} uses ${owners.get(name)}.${name}`),
      );
    expect([...new Set(foreign)]).toEqual([]);
  });

  test('transactions touch one of them, except in the modules listed with a reason', async () => {
    const of = (home: Home, table: string) => home.statement('', `SELECT FROM ${table}`);
    const both = app.get(Db).tx(async (tx) => {
      await tx.query(of(directory, 'accounts'), []);
      await tx.query(of(workspace, 'notes'), []);
    });
    await expect(both).rejects.toThrow('a transaction of platform touches the directory and a workspace');
    await app.get(Db).tx((tx) => tx.query(of(workspace, 'notes'), []));
  });

  test('statements that TypeORM generates are checked, by the home of their tables', async () => {
    const both = app.get(Db).tx(async (tx) => {
      await tx.query(directory.statement('', 'SELECT FROM accounts'), []);
      await (await tx.managerOf('')).find(NoteFolder);
    });
    await expect(both).rejects.toThrow('touches the directory and a workspace: , note_folders');
  });

  test('are found in the text: tables, views and functions within views and functions, not strings, columns and comments', () => {
    expect(usage.touched(`SELECT email FROM member_profiles -- accounts`)).toEqual(
      new Set(['tenant_members']),
    );
    expect(usage.touched(`SELECT task_tree_share($1, $2)`)).toEqual(new Set(['task_folders']));
    expect(usage.touched(`SELECT 'accounts' FROM unnest($1) AS t (id) WHERE t.sessions IS NULL`)).toEqual(
      new Set(),
    );
    expect(usage.touched(`SELECT rate_limit_take($1, $2, $3, $4)`)).toEqual(new Set(['rate_limits']));
    expect(usage.touched(`INSERT INTO accounts (id) SELECT id FROM sessions`)).toEqual(
      new Set(['accounts', 'sessions']),
    );
  });
});
