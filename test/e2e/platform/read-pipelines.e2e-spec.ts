import { inWorkOf } from '../../../src/platform/current-work/current-work.js';
import { isResponseTimeout } from '../../../src/platform/database/database-errors.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { inDatabase } from '../../support/database/database.ts';
import { withTimeouts } from '../../support/database/timeouts.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { until } from '../../support/until.ts';

const half = either.statement<{ half: number }>('test.half', 'SELECT 100 / $1::int AS half', {
  pipelined: true,
});
const backend = either.statement<{ pid: number }>('test.backend', 'SELECT pg_backend_pid() AS pid', {
  pipelined: true,
});

const CONNECTIONS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'workspace reads'`;

describe('pipelined reads', () => {
  let app: TestApp;
  let db: Db;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    db = app.get<Db>(Db);
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  const notes = async (count: number): Promise<string[]> => {
    const client = app.as(alice.token);
    const made = await Promise.all(
      Array.from({ length: count }, (_, n) => client.post('/notes', { title: `note ${n}` })),
    );
    return made.map(({ body }) => body.note.id as string);
  };

  test('each caller gets the result of its own statement', async () => {
    const client = app.as(alice.token);
    const ids = await notes(40);
    const read = await Promise.all(ids.map((id) => client.get(`/notes/${id}`)));
    expect(read.map(({ status, body }) => [status, body.note.id, body.note.title])).toEqual(
      ids.map((id, n) => [200, id, `note ${n}`]),
    );
  });

  test('a failing statement does not affect those before and after it', async () => {
    const results = await Promise.allSettled([1, 0, 4, 0, 10].map((n) => db.query(half, [n])));
    expect(
      results.map((result) => (result.status === 'fulfilled' ? result.value[0]?.half : result.reason.code)),
    ).toEqual([100, '22012', 25, '22012', 10]);
    const [{ half: again } = { half: 0 }] = await db.query(half, [2]);
    expect(again).toBe(50);
  });

  test('many statements share a few connections, and a transaction keeps its own', async () => {
    const read = (n: number) => inWorkOf({ workspace: `w${n}`, user: `u${n}` }, () => db.query(backend, []));
    const rows = await Promise.all(Array.from({ length: 50 }, (_, n) => read(n)));
    const pids = new Set(rows.map(([row]) => row?.pid));
    const connections = (await app.sql(CONNECTIONS)) as { pid: number }[];
    expect(pids.size).toBe(connections.length);
    expect([...pids].every((pid) => connections.some((connection) => connection.pid === pid))).toBe(true);
    const inside = await db.tx((tx) => tx.query(backend, []));
    expect(pids.has(inside[0]!.pid)).toBe(false);
  });

  test('reads survive the loss of their connections', async () => {
    const client = app.as(alice.token);
    const [id] = await notes(1);
    for (let round = 0; round < 5; round += 1) {
      const reads = Array.from({ length: 30 }, () => client.get(`/notes/${id}`));
      const killed = app.sql(`SELECT pg_terminate_backend(pid) FROM (${CONNECTIONS}) AS connection`);
      const statuses = (await Promise.all(reads)).map(({ status }) => status);
      await killed;
      expect(statuses).toEqual(Array(30).fill(200));
    }
    expect((await client.get(`/notes/${id}`)).status).toBe(200);
  });

  test('a database without response is 503, not an endless wait; reads work when it is back', async () => {
    const proxy = await DatabaseProxy.start(app.databaseUrl);
    const through = await withTimeouts({ response: 3_000, connect: 2_000 }, () =>
      TestApp.start({}, proxy.url),
    );
    try {
      const client = through.as(alice.token);
      const [id] = await notes(1);
      const served = () => until('a response', async () => (await client.get(`/notes/${id}`)).status === 200);
      // On a busy machine it may take longer than the limit.
      await served();
      proxy.silence();
      const silent = await Promise.all(Array.from({ length: 5 }, () => client.get(`/notes/${id}`)));
      expect(silent.map(({ status, body }) => [status, body.error])).toEqual(
        Array.from({ length: 5 }, () => [503, 'database_unavailable']),
      );
      await proxy.restore();
      await served();
    } finally {
      await through.stop();
      await proxy.cut();
    }
  });

  test('a short read without a response replaces the idle connections of the pool', async () => {
    const proxy = await DatabaseProxy.start(app.databaseUrl);
    const through = await withTimeouts({ response: 3_000, connect: 2_000 }, () =>
      TestApp.start({}, proxy.url),
    );
    try {
      const { main } = through.get<Db>(Db);
      const [idle] = await main.queryAlways(backend, []);
      const held = proxy.hold('test.half');
      const isLate = main.query(half, [1]).catch(isResponseTimeout);
      await held;
      expect(await isLate).toBe(true);
      await until('the end of the idle connection', async () => {
        const found = await inDatabase(app.databaseUrl, 'SELECT FROM pg_stat_activity WHERE pid = $1', [
          idle!.pid,
        ]);
        return found.length === 0;
      });
    } finally {
      await through.stop();
      await proxy.cut();
    }
  });
});
