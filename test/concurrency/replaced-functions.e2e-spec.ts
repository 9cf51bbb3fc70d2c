import { createDataSource } from '../../src/platform/database/data-source.js';
import { migrate } from '../../src/platform/database/schema/migrate.js';
import { Config } from '../../src/config/config.js';
import { schema } from '../../src/schema.js';
import { TestApp, type TestUser } from '../support/app.ts';

const UPGRADES = 10;

/** Another process upgrades the database: it drops and creates all functions and views in one transaction. */
describe('functions that an upgrade replaces during writes', () => {
  let app: TestApp;
  let ann: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [ann] = await app.tenant('acme', 'ann');
  });
  afterAll(() => app?.stop());

  test('cause no error but 503, and no write is lost or repeated', async () => {
    const config = Config.parse({ DATABASE_URL: app.databaseUrl, DATABASE_POOL_MAX: '2' });
    const dataSource = await createDataSource(config, app.databaseUrl, schema, {
      timeouts: false,
    }).initialize();
    const state = { over: false };
    const titles: string[] = [];
    const unexpected: string[] = [];
    const write = async (writer: number): Promise<void> => {
      for (let n = 0; !state.over; n += 1) {
        const title = `${writer}-${n}`;
        const key = { 'idempotency-key': title };
        for (const [path, body, headers] of [
          ['/notes', { title }, {}],
          ['/tasks', { title }, key],
        ] as const) {
          const { status, text } = await ann.api.request('POST', path, { body, headers });
          if (status === 201) titles.push(`${path} ${title}`);
          else if (status !== 503) unexpected.push(`POST ${path}: ${status} ${text}`);
        }
        const { status, text } = await ann.api.get('/notes?limit=5');
        if (status !== 200 && status !== 503) unexpected.push(`GET /notes: ${status} ${text}`);
      }
    };
    const writers = [0, 1, 2, 3].map(write);
    for (let n = 0; n < UPGRADES; n += 1) {
      const [first, ...others] = schema.sql;
      await migrate(dataSource, [{ ...first!, text: `${first!.text}\n-- version ${n}` }, ...others]);
    }
    state.over = true;
    await Promise.all(writers);
    await dataSource.destroy();
    expect(unexpected).toEqual([]);
    const rows = await app.sql<{ entry: string }>(
      `SELECT '/notes ' || title AS entry FROM notes UNION ALL SELECT '/tasks ' || title FROM tasks`,
    );
    expect(rows.map(({ entry }) => entry).toSorted()).toEqual(titles.toSorted());
  });
});
