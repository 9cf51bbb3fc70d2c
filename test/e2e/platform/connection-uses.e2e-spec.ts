import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { AccessWatch } from '../../../src/modules/identity/access-watch.js';
import { forProcess, inWorkOf } from '../../../src/platform/current-work/current-work.js';
import { sharesOfCell, sharesOfMain } from '../../../src/platform/database/connections/fair-pool.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { holdEvents } from '../../support/database/outbox.ts';
import { until } from '../../support/until.ts';

const one = either.statement<{ one: number }>('test.one', 'SELECT 1 AS one');

/** Of three workspaces, so that no share of a workspace is full before all connections are in use. */
const ownerOf = (n: number) => ({ workspace: `w${n % 3}`, user: `u${n}` });

describe('connections of requests, jobs and the process', () => {
  let app: TestApp;
  let db: Db;
  let alice: TestUser;
  let holder: pg.Client;
  let changed: string[];

  beforeAll(async () => {
    // One database for everything: the test fills its pool.
    app = await TestApp.start({ TEST_CELLS: '', DATABASE_POOL_MAX: '10' });
    db = app.get<Db>(Db);
    [alice] = await app.tenant('acme', 'alice');
    holder = new pg.Client({ connectionString: app.databaseUrl });
    await holder.connect();
    changed = [];
    app.get(AccessWatch).onChange(({ id }) => changed.push(id));
  });
  afterAll(async () => {
    await holder?.end();
    await app?.stop();
  });

  /** Runs `work` while transactions hold all connections of a use. @param run runs the nth one */
  async function whileHeld(
    use: 'requests' | 'jobs',
    run: (n: number, work: () => Promise<void>) => Promise<void>,
    work: () => Promise<void>,
  ): Promise<void> {
    const released = Promise.withResolvers<void>();
    const state = () => db.main.poolState.uses[use];
    const { max } = state();
    const hold = () => db.tx(() => released.promise);
    const held = Promise.all(Array.from({ length: max }, (_, n) => run(n, hold)));
    try {
      await until('all connections to be in use', () => state().busy === max);
      await work();
      expect(state()).toMatchObject({ busy: max });
    } finally {
      released.resolve();
      await held;
    }
  }

  /** Ready, and a change of access by another process arrives. */
  async function expectAlive(): Promise<void> {
    expect((await app.anonymous.get('/health/ready')).status).toBe(200);
    const id = uuidv7();
    await holder.query('INSERT INTO access_changes (id, account_id) VALUES ($1, $1)', [id]);
    await until('the change of access', () => changed.includes(id));
  }

  test('requests that hold all of theirs leave the delivery of events, jobs and the process alone', async () => {
    const deliver = await holdEvents(app);
    expect((await alice.api.post('/notes', { title: 'with events' })).status).toBe(201);
    // No mail service takes the events of new users.
    const events = () => app.sql(`SELECT type FROM outbox WHERE type LIKE 'note.%'`);
    expect((await events()).length).toBeGreaterThan(0);
    await whileHeld(
      'requests',
      (n, work) => inWorkOf(ownerOf(n), work),
      async () => {
        await expectAlive();
        await deliver();
        await until('the delivery of the events', async () => (await events()).length === 0);
        expect(await db.query(one, [])).toEqual([{ one: 1 }]);
      },
    );
  });

  test('jobs that hold all of theirs leave requests, leases and the process alone', async () => {
    await whileHeld(
      'jobs',
      (_, work) => work(),
      async () => {
        await expectAlive();
        const responses = await Promise.all([
          alice.api.get('/notes'),
          alice.api.post('/notes', {}),
          alice.api.post('/notes', {}, { headers: { 'idempotency-key': 'jobs-are-busy' } }),
        ]);
        expect(responses.map(({ status }) => status)).toEqual([200, 201, 201]);
        expect(await forProcess(() => db.tx((tx) => tx.query(one, [])))).toEqual([{ one: 1 }]);
      },
    );
  });

  test.each([
    ['requests', (n: number, work: () => Promise<unknown>) => inWorkOf(ownerOf(n), work)],
    ['jobs', (_: number, work: () => Promise<unknown>) => work()],
  ] as const)('transactions of %s that all need a further connection get it', async (use, run) => {
    const { max } = db.main.poolState.uses[use];
    const all = Promise.withResolvers<void>();
    let open = 0;
    const nested = (n: number) =>
      run(n, () =>
        db.tx(async () => {
          open += 1;
          if (open === max) all.resolve();
          await all.promise;
          return db.query(one, []);
        }),
      );
    const results = await Promise.all(Array.from({ length: max }, (_, n) => nested(n)));
    expect(results).toEqual(results.map(() => [{ one: 1 }]));
    expect((await app.anonymous.get('/health/ready')).status).toBe(200);
  });

  test('are at least one for each use, also in small pools', () => {
    expect([1, 2, 3, 10].map(sharesOfMain)).toEqual([
      { requests: 1, jobs: 1, process: 2 },
      { requests: 1, jobs: 1, process: 2 },
      { requests: 2, jobs: 1, process: 2 },
      { requests: 7, jobs: 3, process: 2 },
    ]);
    expect([1, 2, 3, 4, 5].map(sharesOfCell)).toEqual([
      { requests: 1, jobs: 1, process: 0 },
      { requests: 1, jobs: 1, process: 0 },
      { requests: 2, jobs: 1, process: 0 },
      { requests: 2, jobs: 1, process: 1 },
      { requests: 3, jobs: 1, process: 1 },
    ]);
  });
});
