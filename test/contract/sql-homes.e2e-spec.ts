import pg from 'pg';
import { statements } from '../../src/platform/database/statement.js';
import { Db } from '../../src/platform/database/db.js';
import { schema } from '../../src/schema.js';
import { type Person, TestApp } from '../support/app.ts';
import { SqlUsage } from '../support/sql-usage.ts';

/** Requests whose statements are made when they are first needed. */
const LAZY = [
  '/notes',
  '/notes?include=content',
  '/tasks',
  '/tasks?status=open&assignee=me',
  '/search/notes?q=word',
  '/search/tasks?q=word',
  '/notes/changes',
  '/task_folders',
];

/** Trigger functions: they stay in migrations, with the table whose trigger they are. */
const TRIGGERS: Record<string, string> = {
  audit_log_is_append_only: 'audit_log',
  task_attachments_gone: 'task_attachments',
};

describe('homes of SQL', () => {
  let app: TestApp;
  let usage: SqlUsage;
  let homes: Map<string, string>;

  beforeAll(async () => {
    app = await TestApp.start();
    const [ann] = (await app.tenant('acme', 'ann')) as [Person];
    for (const path of LAZY) expect((await ann.api.get(path)).status).toBe(200);
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
    const checked = statements().filter(({ home }) => home !== 'mail_service');
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

  test('are found in the text: tables, views and functions within views and functions, not strings, columns and comments', () => {
    expect(usage.touched(`SELECT note FROM note_views -- accounts`)).toEqual(
      new Set(['notes', 'note_members', 'note_revisions', 'tenant_members']),
    );
    expect(usage.touched(`SELECT 'accounts' FROM unnest($1) AS t (id) WHERE t.sessions IS NULL`)).toEqual(
      new Set(),
    );
    expect(usage.touched(`SELECT rate_limit_take($1, $2, $3, $4)`)).toEqual(new Set(['rate_limits']));
    expect(usage.touched(`INSERT INTO accounts (id) SELECT id FROM sessions`)).toEqual(
      new Set(['accounts', 'sessions']),
    );
  });
});
