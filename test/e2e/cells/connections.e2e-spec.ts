import pg from 'pg';
import { Config } from '../../../src/config/config.js';
import { Cells } from '../../../src/platform/cells/cells.js';
import { USES } from '../../../src/platform/current-work/current-work.js';
import type { Database } from '../../../src/platform/database/database.js';
import { Db } from '../../../src/platform/database/db.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { addCells, type TestCell } from '../../support/database/cells.ts';
import { until } from '../../support/until.ts';

const NAMES = ['north', 'south', 'east'];

describe('connections to cells', () => {
  let app: TestApp;
  let cells: TestCell[];
  let users: TestUser[];

  beforeAll(async () => {
    app = await TestApp.start({ CELL_CONNECTIONS_MAX: '9', CELL_POOL_MAX: '3', METRICS_PORT: '9' });
    cells = await addCells(app.served.nest, ...NAMES);
    users = [];
    for (const slug of NAMES) users.push(...(await app.tenant(slug, 'ann')));
  });
  afterAll(async () => {
    await app?.stop();
    for (const cell of cells ?? []) await cell.drop();
  });

  /** Open connections of the application. They stay open for half a minute after their last statement. */
  const open = async (): Promise<number> => {
    const counts = cells.map((cell) =>
      cell.sql(
        `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND application_name IN ('workspace', 'workspace reads')`,
      ),
    );
    return (await Promise.all(counts)).reduce((sum, [{ count }]) => sum + count, 0);
  };

  /** Reads and writes in all cells at the same time. */
  const load = async (): Promise<number[]> => {
    const requests = users.flatMap(({ api }) =>
      // With one connection for a cell, 21 requests of a user wait or run: further ones are rejected.
      Array.from({ length: 6 }, (_, n) => [
        api.get('/notes'),
        api.get('/tasks'),
        api.post('/notes', { title: `Note ${n}` }),
      ]),
    );
    return (await Promise.all(requests.flat())).map(({ status }) => status);
  };

  test('are together at most CELL_CONNECTIONS_MAX, those for short reads included', async () => {
    expect(new Set(await load())).toEqual(new Set([200, 201]));
    const count = await open();
    expect(count).toBeGreaterThan(3);
    expect(count).toBeLessThanOrEqual(9);
  });

  test('the metrics show the pool of each cell', async () => {
    const { process } = await app.get(Metrics).read({ installation: false });
    const pools = process.find(({ name }) => name === 'database_pool_connections')?.values as any[];
    const max = (cell: string) =>
      USES.map(
        (use) =>
          pools.find(({ labels }) => labels.state === 'max' && labels.cell === cell && labels.use === use)
            .value,
      );
    expect(
      max('main')
        .slice(0, 2)
        .reduce((sum, count) => sum + count),
    ).toBe(app.get(Config).DATABASE_POOL_MAX);
    // Nothing that the process depends on is in a cell.
    for (const name of NAMES) expect(max(name)).toEqual([2, 1, 0]);
  });

  test('are fewer for each cell once there are more cells', async () => {
    const more = await addCells(app.served.nest, 'west', 'far', 'near', 'high', 'low', 'deep');
    cells.push(...more);
    for (const slug of more.map(({ name }) => name)) users.push(...(await app.tenant(slug, 'ann')));
    expect(new Set(await load())).toEqual(new Set([200, 201]));
    await until('idle connections above the new share to close', async () => (await open()) <= 9);
  });
});

describe('a cell that opens while another is added', () => {
  let app: TestApp;
  const cells: TestCell[] = [];

  beforeAll(async () => {
    app = await TestApp.start({ CELL_CONNECTIONS_MAX: '9', CELL_POOL_MAX: '9', METRICS_PORT: '9' });
  });
  afterAll(async () => {
    await app?.stop();
    for (const cell of cells) await cell.drop();
  });

  test('has the share of both', async () => {
    cells.push(...(await addCells(app.served.nest, 'first')));
    const [first] = cells as [TestCell];
    const client = new pg.Client(first.url);
    await client.connect();
    // Opening a cell reads the list of its migrations.
    await client.query('BEGIN; LOCK TABLE schema_migrations');
    const opening = (app.get<any>(Cells) as { open(name: string): Promise<Database> }).open('first');
    cells.push(...(await addCells(app.served.nest, 'second')));
    await client.end();
    const opened = await opening;
    expect(opened.poolState.max).toBe(2);
    await opened.close();
  });

  test('is not among the open ones where the process cannot use it', async () => {
    let isFaulty = false;
    app.get(Db).onPool(() => {
      if (isFaulty) throw new Error('no metrics');
    });
    isFaulty = true;
    cells.push(...(await addCells(app.served.nest, 'faulty')));
    await expect(app.get(Cells).cell('faulty')).rejects.toThrow('faulty');
    expect(app.get(Cells).opened.map(({ name }) => name)).not.toContain('faulty');
  });
});
