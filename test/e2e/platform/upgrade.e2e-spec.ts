import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { QueryRunner } from 'typeorm';
import pg from 'pg';
import { migrateDatabase } from '../../../src/app.prepare.js';
import { Config } from '../../../src/config/config.js';
import { migrateMailService } from '../../../src/mail-service/mail-service.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { TestApp } from '../../support/app.ts';
import { catalogueOf } from '../../support/database/catalogue.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';

interface Installation {
  schemas: Record<string, { name: string; sql: string }[]>;
  tables: Record<string, object[]>;
  people: Record<string, string>;
  responses: { as: string; path: string; status: number; etag: string | null; body: any }[];
}

const FILE = new URL('../../fixtures/upgrade/7ed5209.json.gz', import.meta.url);

/** Makes the schema by the migrations of the old version, recorded as they were, and inserts the rows. */
async function restore({ schemas, tables }: Installation, url: string): Promise<void> {
  const config = Config.parse({ DATABASE_URL: url });
  for (const [schema, steps] of Object.entries(schemas)) {
    const migrations = steps.map(
      ({ name, sql }) =>
        class {
          readonly name = name;
          async up(runner: QueryRunner): Promise<void> {
            await runner.query(sql);
          }
          async down(): Promise<void> {}
        },
    );
    const part = { entities: [], migrations, sql: [] };
    await withClient(url, (client) => client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`));
    const dataSource = await createDataSource(config, url, part, { timeouts: false, schema }).initialize();
    await dataSource.runMigrations({ transaction: 'each' });
    await dataSource.destroy();
  }
  await withClient(url, async (client) => {
    // Rows are complete as they are: no trigger, no foreign key in the order of tables.
    await client.query(`SET session_replication_role = replica`);
    for (const [table, rows] of Object.entries(tables)) {
      const columns = Object.keys(rows[0] as object).map((name) => `"${name}"`);
      await client.query(
        `INSERT INTO ${table} (${columns.join()}) SELECT ${columns.join()} FROM json_populate_recordset(NULL::${table}, $1)`,
        [JSON.stringify(rows)],
      );
    }
  });
}

async function withClient(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** The revision of the note that was current when its viewer, cat, was invited. */
const SHARED_REVISION = 3;

/**
 * The old version showed the title of the linked task to every reader of the note, and only ann can read the task. It also showed the
 * revisions before the invitation to the viewer.
 */
function withoutLeaks(response: { as: string; path: string }): object {
  if (response.as === 'ann') return response;
  const isViewer = response.as === 'cat';
  const revision = /\/revisions\/(\d+)$/.exec(response.path)?.[1];
  if (isViewer && Number(revision) < SHARED_REVISION)
    return { ...response, status: 404, body: { error: 'not_found' } };
  return JSON.parse(JSON.stringify(response), (key, value) => {
    if (key === 'links') return value.map((link: object) => ({ ...link, title: null }));
    if (key === 'revisions' && isViewer)
      return value.filter((entry: { revision: number }) => entry.revision >= SHARED_REVISION);
    return value;
  });
}

/** Later versions add permissions and reword their descriptions: compares the recorded ones by id, without counts. */
function comparable({ body, ...response }: Installation['responses'][number], recorded: any) {
  const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);
  if (body?.available) {
    const known = new Set(idsOf(recorded.available));
    const available = idsOf(body.available).filter((id) => known.has(id));
    return { ...response, body: { permissions: idsOf(body.permissions), available } };
  }
  const groups = body?.groups?.map(({ permissions_count: count, ...group }: any) =>
    group.system ? group : { ...group, permissions_count: count },
  );
  return { ...response, body: groups ? { ...body, groups } : body };
}

async function upgrade(url: string): Promise<void> {
  const config = Config.parse({ DATABASE_URL: url });
  await migrateDatabase(config, url);
  await migrateMailService(config, url);
}

describe('an installation of an earlier version', () => {
  const installation = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Installation;
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let mail: TestMailService;
  let app: TestApp;

  beforeAll(async () => {
    database = await emptyDatabase();
    await restore(installation, database.url);
    await upgrade(database.url);
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
    await database?.drop();
  });

  test('has the same catalogue as a new installation once it is upgraded', async () => {
    const fresh = await emptyDatabase();
    try {
      await upgrade(fresh.url);
      const [upgraded, made] = await Promise.all([catalogueOf(database.url), catalogueOf(fresh.url)]);
      expect(upgraded).toEqual(made);
      expect(made.filter((line) => line.startsWith('function')).length).toBeGreaterThan(50);
    } finally {
      await fresh.drop();
    }
  });

  test('returns the same response as before, and accepts writes', async () => {
    mail = await TestMailService.start({}, database.url);
    app = await TestApp.start(mail.settings, database.url);
    const identity = app.get(IdentityApi);
    const tokens: Record<string, string> = {};
    for (const [name, email] of Object.entries(installation.people)) {
      const [member] = await app.sql<{ tenant_id: string; user_id: string }>(
        `SELECT tenant_id, user_id FROM tenant_members WHERE email = $1`,
        [email],
      );
      const { tenant_id: tenantId, user_id: accountId } = member as { tenant_id: string; user_id: string };
      [tokens[name]] = (await identity.issueTokens([{ accountId, tenantId }], 'test')) as [string];
    }
    const seen = [];
    for (const { as, path } of installation.responses) {
      const { status, body, headers } = await app.as(tokens[as] as string).get(path);
      seen.push({
        as,
        path,
        status,
        etag: headers.get('etag'),
        body: status < 400 ? body : { error: body.error },
      });
    }
    const expected = installation.responses.map((each) => withoutLeaks(comparable(each, each.body)));
    expect(seen.map((each, n) => comparable(each, installation.responses[n]!.body))).toMatchObject(expected);

    const ann = app.as(tokens['ann'] as string);
    const { notes } = (await ann.get('/notes')).body;
    const written = await ann.patch(`/notes/${notes[0].id}`, {
      title: 'After the upgrade',
      base_revision: notes[0].revision,
    });
    expect(written).toMatchObject({ status: 200, body: { note: { revision: notes[0].revision + 1 } } });
    expect((await ann.post('/tasks', { title: 'After the upgrade' })).status).toBe(201);
  });
});
