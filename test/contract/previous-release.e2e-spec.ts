import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import type { QueryRunner } from 'typeorm';
import { migrateDatabase } from '../../src/app.prepare.js';
import { Config } from '../../src/config/config.js';
import { MAIL_SCHEMA, mailServiceSchema } from '../../src/mail-service/mail-service.schema.js';
import type { MigrationClass } from '../../src/platform/database/schema/schema-part.js';
import { statements } from '../../src/platform/database/statement.js';
import { schema } from '../../src/schema.js';
import { TestApp } from '../support/app.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { LAZY_STATEMENTS } from '../support/database/lazy-statements.ts';
import { SqlUsage } from '../support/database/sql-usage.ts';
import { mailboxesOf, TestMailService } from '../support/mail/mail-service.ts';
import { findCulprits } from '../support/release/culprits.ts';
import { findBreaks, type Namespace, recordRelease, type Release } from '../support/release/release.ts';
import { RETIRED } from '../support/release/retired.ts';

const FILE = new URL('../fixtures/upgrade/release.json.gz', import.meta.url);

/** Query strings of message lists, whose statements are created at the first request. */
const LAZY_MAIL = ['', '?unseen=true', '?threadCounters=true', '?metaData=true', '?order=asc'];

const namespaces = (): Namespace[] => {
  const own = statements().filter(({ name }) => !name.startsWith('test.'));
  const isMail = ({ home }: { home: string }) => home === 'mail_service';
  return [
    { ...schema, name: 'public', statements: own.filter((statement) => !isMail(statement)) },
    { ...mailServiceSchema, name: MAIL_SCHEMA, statements: own.filter(isMail) },
  ];
};

/** During a rolling restart, processes of the previous release serve from the schema of this version. */
describe('the previous release on the schema of this version', () => {
  let app: TestApp;
  let mail: TestMailService;
  let release: Release;

  beforeAll(async () => {
    app = await TestApp.start();
    mail = await TestMailService.start({}, app.databaseUrl);
    if (process.env['RECORD_RELEASE']) await record();
    release = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Release;
  });
  afterAll(async () => {
    await mail?.stop();
    await app?.stop();
  });

  const versionOfPackage = (): string =>
    JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

  /** Writes this version as the release that later versions are compared with. */
  async function record(): Promise<void> {
    const [ann] = await app.tenant('acme', 'ann');
    for (const path of LAZY_STATEMENTS) expect((await ann.api.get(path)).status).toBe(200);
    const ben = await mail.person('ben');
    const { INBOX } = await mailboxesOf(ben);
    for (const query of LAZY_MAIL)
      expect((await ben.get(`/users/me/mailboxes/${INBOX}/messages${query}`)).status).toBe(200);
    const recorded = await recordRelease(app.databaseUrl, versionOfPackage(), namespaces());
    writeFileSync(FILE, gzipSync(JSON.stringify(recorded), { level: 9 }));
  }

  test('is recorded completely', () => {
    expect(release.version).toBe(versionOfPackage());
    expect(release.statements.length).toBeGreaterThan(500);
    expect(new Set(release.statements.map(({ schema: name }) => name))).toEqual(
      new Set(['public', MAIL_SCHEMA]),
    );
    expect(Object.keys(release.columns).length).toBeGreaterThan(80);
  });

  test('finds each of its statements valid, with the same types, and each column and value that it writes', async () => {
    const breaks = (await findBreaks(release, app.databaseUrl)).filter(({ what }) => !RETIRED[what]);
    const causes = breaks.length > 0 ? await findCulprits(release, namespaces(), breaks) : new Map();
    expect(breaks.map(({ what, why }) => `${what}: ${why} (${causes.get(what)})`)).toEqual([]);
  });

  test('is the only one whose signatures are kept, each in a file with its version', () => {
    const kept = namespaces().flatMap(({ sql }) => sql.filter(({ name }) => name.startsWith('release-')));
    expect([...new Set([`release-${release.version}`, ...kept.map(({ name }) => name)])]).toEqual([
      `release-${release.version}`,
    ]);
    // A function of this version takes a record or a patch instead of so many parameters.
    const long = namespaces().flatMap(({ sql }) =>
      sql.filter((file) => !kept.includes(file)).flatMap(longSignatures),
    );
    expect(long).toEqual([]);
  });

  test('or this version uses each stored function and view', async () => {
    const client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    const unused: unknown[] = [];
    for (const { name, sql, statements: own } of namespaces()) {
      await client.query(`SET search_path = ${name}`);
      const usage = await SqlUsage.of(client);
      const declared = sql.flatMap(({ text }) =>
        [...text.matchAll(/^CREATE (?:FUNCTION|VIEW) (\w+)/gm)].map(([, made]) => made),
      );
      const isTrigger = ([stored]: [string, string]) => !declared.includes(stored);
      const texts = [
        ...own.map(({ text }) => text),
        ...release.statements.map(({ text }) => text),
        ...[...usage.stored].filter(isTrigger).map(([, text]) => text),
      ];
      const used = new Set(texts.flatMap((text) => [...usage.used(text)]));
      unused.push(...declared.filter((made) => !used.has(made as string)));
    }
    await client.end();
    expect(unused).toEqual([]);
  });

  test('has no exception that is not needed', async () => {
    const broken = new Set((await findBreaks(release, app.databaseUrl)).map(({ what }) => what));
    expect(Object.keys(RETIRED).filter((what) => !broken.has(what))).toEqual([]);
  });
});

const MAX_PARAMETERS = 8;

/** The functions of a file with too many parameters. */
const longSignatures = ({ text }: { text: string }): string[] =>
  [...text.matchAll(/^CREATE FUNCTION (\w+)\s*\(([^)]*)\)\s*RETURNS/gm)]
    .filter(([, , parameters = '']) => parameters.split(',').length > MAX_PARAMETERS)
    .map(([, name]) => name as string);

const step = (name: string, sql: string): MigrationClass =>
  class {
    readonly name = name;
    async up(runner: QueryRunner): Promise<void> {
      await runner.query(sql);
    }
    async down(): Promise<void> {}
  };

describe('the comparison with a release', () => {
  const CREATED = step(
    'Things1700000000001',
    `CREATE TYPE colour AS ENUM ('red', 'blue');
     CREATE TABLE things (id int PRIMARY KEY, name text, size int, colour colour);`,
  );
  const view = (columns: string) => [
    {
      home: 'workspace' as const,
      name: 'views',
      text: `CREATE VIEW thing_views AS SELECT ${columns} FROM things;`,
    },
  ];
  const before: Namespace = {
    name: 'public',
    migrations: [CREATED],
    sql: view('id, size'),
    statements: [
      { name: 'find', text: 'SELECT name FROM things WHERE id = $1' },
      { name: 'shown', text: 'SELECT * FROM thing_views' },
      { name: 'sized', text: 'SELECT id FROM things WHERE size > $1' },
      { name: 'put', text: 'INSERT INTO things (id) VALUES ($1)' },
      { name: 'lock', text: 'LOCK TABLE things' },
    ],
  };

  /** The breaks that a change of the release causes, each with its cause. */
  async function changed(migrations: MigrationClass[], sql = before.sql): Promise<string[]> {
    const after = { ...before, migrations: [CREATED, ...migrations], sql };
    const whole = (namespace: Namespace) => ({ parts: [], entities: [], ...namespace });
    const database = await emptyDatabase();
    try {
      const config = Config.parse({ DATABASE_URL: database.url });
      await migrateDatabase(config, database.url, whole(before));
      const release = await recordRelease(database.url, '1.0.0', [before]);
      await migrateDatabase(config, database.url, whole(after));
      const breaks = await findBreaks(release, database.url);
      const causes = await findCulprits(release, [after], breaks);
      return breaks.map(({ what, why }) => `${what}: ${why} (${causes.get(what)})`);
    } finally {
      await database.drop();
    }
  }

  test('accepts what only adds', async () => {
    const added = step(
      'Added1700000000002',
      `ALTER TABLE things ADD weight int, ADD state text NOT NULL DEFAULT 'new';
       ALTER TYPE colour ADD VALUE 'green'; CREATE TABLE others (id int NOT NULL)`,
    );
    expect(await changed([added])).toEqual([]);
  });

  test('names the migration that dropped a column, and each statement that used it', async () => {
    const harmless = step('Harmless1700000000002', 'ALTER TABLE things ADD weight int');
    const dropped = step('Dropped1700000000003', 'ALTER TABLE things DROP name');
    expect(await changed([harmless, dropped])).toEqual([
      'statement find: column "name" does not exist (Dropped1700000000003)',
      'column public.things.name: does not exist (Dropped1700000000003)',
    ]);
  });

  test('names the migration after which an INSERT of the release fails', async () => {
    const required = step('Required1700000000002', 'ALTER TABLE things ADD state text NOT NULL');
    const strict = step('Strict1700000000003', 'ALTER TABLE things ALTER size SET NOT NULL');
    expect(await changed([required, strict])).toEqual([
      'column public.things.size: needs a value now (Strict1700000000003)',
      'column public.things.state: is new and needs a value (Required1700000000002)',
    ]);
  });

  test('sees changed types of parameters, columns and enumerations', async () => {
    const wider = step('Wider1700000000002', 'ALTER TABLE things ALTER size TYPE bigint');
    const other = step(
      'Other1700000000003',
      `ALTER TYPE colour RENAME VALUE 'blue' TO 'navy'; ALTER TABLE things ALTER id TYPE text`,
    );
    expect(await changed([wider, other])).toEqual([
      'statement find: parameters: (integer) is now (text) (Other1700000000003)',
      'statement shown: results: (id integer, size integer) is now (id text, size bigint) (Wider1700000000002)',
      'statement sized: parameters: (integer) is now (bigint) (Wider1700000000002)',
      'statement put: parameters: (integer) is now (text) (Other1700000000003)',
      'column public.things.id: integer is now text (Other1700000000003)',
      'column public.things.size: integer is now bigint (Wider1700000000002)',
      'value public.colour.blue: does not exist (Other1700000000003)',
    ]);
  });

  test('names the functions and views of this version when no migration is the cause', async () => {
    expect(await changed([], view('id, size, name'))).toEqual([
      'statement shown: results: (id integer, size integer) is now (id integer, size integer, name text) (sql/)',
    ]);
  });
});
