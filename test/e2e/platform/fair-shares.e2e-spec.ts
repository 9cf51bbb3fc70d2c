import pg from 'pg';
import { currentWork, inWorkOf } from '../../../src/platform/current-work/current-work.js';
import { DatabaseBusyError } from '../../../src/platform/database/database-errors.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { withTimeouts } from '../../support/database/timeouts.ts';
import { until } from '../../support/until.ts';

const LOCK = 4_711;
/** Waits while the test holds the lock. */
const wait = either.statement<{ pg_advisory_xact_lock_shared: string }>(
  'test.wait_for_lock',
  `SELECT pg_advisory_xact_lock_shared(${LOCK})`,
);
const sleep = either.statement<never>('test.sleep', `SELECT pg_sleep($1)`);

describe('connections that requests share', () => {
  let app: TestApp;
  let db: Db;
  let alice: TestUser;
  let anna: TestUser;
  let bob: TestUser;
  let holder: pg.Client;

  beforeAll(async () => {
    // One database for everything: the test fills its pool.
    app = await TestApp.start({ TEST_CELLS: '', DATABASE_POOL_MAX: '10' });
    db = app.get<Db>(Db);
    [alice, anna] = await app.tenant('acme', 'alice', 'anna');
    [bob] = await app.tenant('other', 'bob');
    holder = new pg.Client({ connectionString: app.databaseUrl });
    await holder.connect();
  });
  afterAll(async () => {
    await holder?.end();
    await app?.stop();
  });

  const ownerOf = ({ tenantId, id }: TestUser) => ({ workspace: tenantId as string, user: id });
  const waiting = () =>
    holder.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted`,
      [LOCK],
    );

  test('a user whose statements do not end leaves connections to colleagues, other workspaces, jobs and the readiness', async () => {
    await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const stuck = Array.from({ length: 30 }, () => inWorkOf(ownerOf(alice), () => db.query(wait, [])));
    await until('the share of the user to be in use', async () => (await waiting()).rows[0]!.count === 4);
    // 7 of the 10 connections are for requests.
    expect(db.main.poolState.uses.requests).toEqual({ max: 7, busy: 4, waiting: 26 });
    const [colleague, other, ready, job] = await Promise.all([
      anna.api.post('/notes', { title: 'of a colleague' }),
      bob.api.post('/notes', { title: 'of another workspace' }),
      app.anonymous.get('/health/ready'),
      db.query(sleep, [0]),
    ]);
    expect([colleague.status, other.status, ready.status, job.length]).toEqual([201, 201, 200, 1]);
    expect((await waiting()).rows[0]!.count).toBe(4);
    await holder.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    await Promise.all(stuck);
    expect(db.main.poolState.uses.requests.waiting).toBe(0);
  });

  test('requests beyond the queue of a user are rejected, those of others are not', async () => {
    await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const stuck = Array.from({ length: 144 }, () => inWorkOf(ownerOf(alice), () => db.query(wait, [])));
    await expect(inWorkOf(ownerOf(alice), () => db.query(wait, []))).rejects.toBeInstanceOf(
      DatabaseBusyError,
    );
    const rejected = await alice.api.post('/notes', { title: 'too many' });
    expect([rejected.status, rejected.body.error, rejected.headers.get('retry-after')]).toEqual([
      503,
      'overloaded',
      '1',
    ]);
    expect((await bob.api.post('/notes', { title: 'of another workspace' })).status).toBe(201);
    await holder.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    await Promise.all(stuck);
  });

  test('a request with a transaction gets a further connection beyond its share', async () => {
    const nested = (owner: TestUser) =>
      inWorkOf(ownerOf(owner), () => db.tx(async () => db.query(sleep, [0])));
    await Promise.all(Array.from({ length: 8 }, () => nested(alice)));
  });

  test('requests and jobs by turns find idle connections that have their time limits', async () => {
    const request = () => inWorkOf(ownerOf(alice), () => db.query(sleep, [0]));
    const job = () => db.query(sleep, [0]);
    // The process itself may use one of them at any time.
    await Promise.all([job(), job(), job(), request(), request()]);
    let changes = 0;
    const watched = new Set<pg.PoolClient>();
    const watch = (client: pg.PoolClient): void => {
      if (watched.has(client)) return;
      watched.add(client);
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      client.query = ((...args: unknown[]) => {
        if (String(args[0]).startsWith('SET statement_timeout')) changes += 1;
        return query(...args);
      }) as typeof client.query;
    };
    db.main.pool.on('acquire', watch);
    try {
      for (let n = 0; n < 20; n += 1) await (n % 2 ? job() : request());
      expect(changes).toBe(0);
    } finally {
      db.main.pool.off('acquire', watch);
      for (const client of watched) delete (client as Partial<pg.PoolClient>).query;
    }
  });

  test('statements of requests end at their limit, those of long work and of jobs later', async () => {
    const limits = { request: 500, longRequest: 50_000, statement: 40_000 };
    const limited = await withTimeouts(limits, () => TestApp.start({ TEST_CELLS: '' }, app.databaseUrl));
    const setting = either.statement<{ statement_timeout: string }>('', 'SHOW statement_timeout');
    try {
      await withTimeouts(limits, async () => {
        const pool = limited.get<Db>(Db);
        const owner = ownerOf(alice);
        const slow = inWorkOf(owner, () => pool.query(sleep, [60]));
        await expect(slow).rejects.toMatchObject({ code: '57014' });
        expect(await inWorkOf(owner, () => pool.query(setting, []))).toEqual([
          { statement_timeout: '500ms' },
        ]);
        expect(await pool.query(setting, [])).toEqual([{ statement_timeout: '40s' }]);
        const long = () => {
          currentWork()!.isLong = true;
          return pool.query(setting, []);
        };
        expect(await inWorkOf(owner, long)).toEqual([{ statement_timeout: '50s' }]);
      });
    } finally {
      await limited.stop();
    }
  });
});
