import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Config } from '../../../src/config/config.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { isConnectionError } from '../../../src/platform/database/database-errors.js';
import { Database } from '../../../src/platform/database/database.js';
import { inWorkOf } from '../../../src/platform/current-work/current-work.js';
import { Db } from '../../../src/platform/database/db.js';
import { runOn } from '../../../src/platform/database/run-on.js';
import { either } from '../../../src/platform/database/statement.js';
import { Keyring } from '../../../src/platform/secrets/keyring.js';
import type pg from 'pg';
import { type TestUser, TestApp } from '../../support/app.ts';
import { cloneDatabase, inDatabase } from '../../support/database/database.ts';
import { withTimeouts } from '../../support/database/timeouts.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { inTransaction, lockWaits } from '../../support/database/locks.ts';
import { until } from '../../support/until.ts';
import { leastTrips } from '../../support/database/round-trips.ts';

const touch = either.statement<{ name: string }>(
  'test.touch',
  `UPDATE job_runs SET ran_at = clock_timestamp() WHERE name = $1 RETURNING name`,
);
const insert = either.statement<never>(
  'test.insert',
  `INSERT INTO job_runs (name, ran_at) VALUES ($1, now())`,
);
const texts = either.statement<{ short: string; long: Buffer; none: null; list: string[] }>(
  'test.texts',
  `SELECT 'é' AS short, repeat('é', $1) AS long, NULL::text AS none, ARRAY[repeat('é', $1)] AS list`,
  { longTextsAsBytes: true },
);
const fail = either.statement<never>('test.fail', `SELECT 1 / (length($1) - 1)`);
const serialization = either.statement<never>(
  'test.serialization',
  `DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`,
);

describe('the database', () => {
  let app: TestApp;
  let db: Db;
  let alice: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    db = app.get<Db>(Db);
    [alice] = await app.tenant('acme', 'alice');
    await app.sql(`INSERT INTO job_runs (name, ran_at) VALUES ('a', now()), ('b', now())`);
  });
  afterAll(() => app?.stop());

  const stored = (name: string) => app.sql('SELECT 1 FROM job_runs WHERE name = $1', [name]);

  test('work in each cell reports the errors of all cells', async () => {
    const cells = jest.spyOn(db, 'cells', 'get').mockReturnValue(['main', 'east', 'west']);
    try {
      const failing = (...names: string[]) =>
        db.inEachCell(async () => {
          if (names.includes(db.currentCell!)) throw new Error(`${db.currentCell} failed`);
        });
      await expect(failing('east')).rejects.toThrow('east failed');
      await expect(failing('main', 'west')).rejects.toMatchObject({
        errors: [new Error('main failed'), new Error('west failed')],
      });
    } finally {
      cells.mockRestore();
    }
  });

  describe('transactions', () => {
    test('two that deadlock both succeed: the aborted one is repeated as a whole', async () => {
      let arrived = 0;
      let attempts = 0;
      let meet: () => void = () => undefined;
      const met = new Promise<void>((resolve) => (meet = resolve));
      const survivor = Promise.withResolvers<unknown>();
      const crosswise = (first: string, second: string) => {
        const done = db.tx(async (tx) => {
          // Without this wait the repeated transaction may lock its first row again before the other one gets it.
          if ((attempts += 1) > 2) await survivor.promise;
          await tx.query(touch, [first]);
          if ((arrived += 1) === 2) meet();
          await met;
          return tx.query(touch, [second]);
        });
        void done.then(survivor.resolve, survivor.resolve);
        return done;
      };
      const results = await Promise.all([crosswise('a', 'b'), crosswise('b', 'a')]);
      expect([results, attempts]).toEqual([[[{ name: 'b' }], [{ name: 'a' }]], 3]);
    });

    test('a serialisation failure is tried three times, any other error once', async () => {
      let attempts = 0;
      const run = (what: typeof fail) =>
        db.tx(async (tx) => {
          attempts += 1;
          await tx.query(what, what === fail ? ['x'] : []);
        });
      await expect(run(serialization)).rejects.toMatchObject({ code: '40001' });
      expect(attempts).toBe(3);
      await expect(run(fail)).rejects.toMatchObject({ code: '22012' });
      expect(attempts).toBe(4);
    });

    test('an error leaves no changes', async () => {
      const broken = db.tx(async (tx) => {
        await tx.query(insert, ['half']);
        throw new Error('the other half');
      });
      await expect(broken).rejects.toThrow('the other half');
      expect(await stored('half')).toEqual([]);
    });

    test('effects run after the commit, once, and not at all without one; a failing one changes nothing', async () => {
      const seen: string[] = [];
      let attempts = 0;
      await db.tx(async (tx) => {
        await tx.query(insert, ['effects']);
        tx.afterCommit(() => {
          throw new Error('an effect of no consequence');
        });
        tx.afterCommit(() => seen.push('after'));
        seen.push('inside');
        if ((attempts += 1) === 1) throw Object.assign(new Error('again'), { code: '40001' });
      });
      expect(seen).toEqual(['inside', 'inside', 'after']);
      expect(await stored('effects')).toHaveLength(1);
      const failing = db.tx(async (tx) => {
        tx.afterCommit(() => seen.push('never'));
        await tx.query(fail, ['x']);
      });
      await expect(failing).rejects.toThrow('division by zero');
      const single = db.single(async (tx) => {
        tx.afterCommit(() => seen.push('never'));
        await tx.query(fail, ['x']);
      });
      await expect(single).rejects.toThrow('division by zero');
      await db.single(async (tx) => {
        await tx.query(touch, ['a']);
        tx.afterCommit(() => seen.push('single'));
      });
      expect(seen).toEqual(['inside', 'inside', 'after', 'single']);
    });

    test('single is one statement, in one round trip', async () => {
      expect(await leastTrips(db, () => db.single((tx) => tx.query(touch, ['a'])))).toBe(1);
      const two = db.single(async (tx) => {
        await tx.query(insert, ['first of two']);
        await tx.query(insert, ['second of two']);
      });
      await expect(two).rejects.toThrow('test.insert is the second');
      expect(await stored('second of two')).toEqual([]);
    });
  });

  test('a finished statement keeps neither its values nor its rows, and its error names the caller', async () => {
    const client = (await db.main.pool.connect()) as pg.PoolClient & { _activeQuery: any };
    try {
      for (const [statement, values, outcome] of [
        [touch, ['a'], { rows: [{ name: 'a' }] }],
        [fail, ['x'], { code: '22012' }],
      ] as const) {
        const running = runOn(client, statement, values).then(
          (rows) => ({ rows }),
          (error: unknown) => error as Error,
        );
        const query = client._activeQuery;
        expect(query.values).toEqual(values);
        const result = await running;
        expect(result).toMatchObject(outcome);
        if (result instanceof Error) expect(result.stack).toContain('database.e2e-spec');
        expect([query.values, query._result.rows]).toEqual([[], []]);
      }
    } finally {
      client.release();
    }
  });

  test('long texts are bytes if the statement declares it', async () => {
    const long = 'é'.repeat(2_000);
    expect(await db.query(texts, [2_000])).toEqual([
      { short: 'é', long: Buffer.from(long), none: null, list: [long] },
    ]);
  });

  describe('a pool of one connection', () => {
    let narrow: TestApp;

    beforeAll(async () => {
      narrow = await TestApp.start({ DATABASE_POOL_MAX: '1' }, app.databaseUrl);
    });
    afterAll(() => narrow?.stop());

    test('is enough for every operation on notes, many at once', async () => {
      const { api } = { api: narrow.as(alice.token) };
      const life = async (n: number): Promise<void> => {
        const headers = { 'idempotency-key': `narrow-${n}` };
        const { body } = await api.post('/notes', { title: `n${n}`, content: '<p>x</p>' }, { headers });
        const path = `/notes/${body.note.id}`;
        const steps = [
          await api.patch(path, { title: 'p', base_revision: 1 }),
          await api.put(path, { title: 'q', base_revision: 2 }),
          await api.get(path),
          await api.get('/notes?limit=5'),
          await api.get(`${path}/revisions`),
          await api.get(`${path}/revisions/1`),
          await api.patch(path, { title: 'stale', base_revision: 1 }),
          await api.delete(path, { base_revision: 3 }),
          await api.post(`${path}/restore`, {}, { headers }),
          await api.delete(path, { base_revision: 3 }),
          await api.delete(`${path}/purge`),
        ];
        expect(steps.map(({ status }) => status)).toEqual([
          200, 200, 200, 200, 200, 200, 409, 200, 200, 200, 200,
        ]);
      };
      await Promise.all(Array.from({ length: 10 }, (_, n) => life(n)));
    });

    test('keeps its connection after a statement that PostgreSQL rejects, and replaces it when a plan is no longer valid', async () => {
      const narrowDb = narrow.get<Db>(Db);
      const backend = either.statement<{ pid: number }>('test.backend', 'SELECT pg_backend_pid() AS pid');
      const [before] = await narrowDb.query(backend, []);
      await expect(narrowDb.query(fail, ['x'])).rejects.toMatchObject({ code: '22012' });
      expect(await narrowDb.query(backend, [])).toEqual([before]);

      await app.sql('CREATE TABLE changing (column_0 integer)');
      const changing = either.statement<object>('test.changing', 'SELECT * FROM changing');
      const read = () => narrowDb.query(changing, []).catch((error: Error) => error);
      let columns = 1;
      // The connections of jobs and of the process belong to the pool, too: each of them may have an old plan, or none.
      const invalid = await until('a plan that is no longer valid', async () => {
        await app.sql(`ALTER TABLE changing ADD column_${columns++} integer`);
        const outcome = await read();
        return outcome instanceof Error && outcome;
      });
      expect(invalid.message).toContain('cached plan must not change result type');
      await until('other connections', async () => !((await read()) instanceof Error));
      for (let n = 0; n < 20; n += 1) expect(await read()).toEqual([]);
    });

    test('connects again when its server has become a read-only replica, for pipelined reads too', async () => {
      const narrowDb = narrow.get<Db>(Db);
      const demote = (pipelined: boolean) =>
        either.statement<never>('', 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', { pipelined });
      const isReplica = either.statement<{ on: string }>(
        'test.is_replica',
        `SELECT current_setting('default_transaction_read_only') AS on`,
        { pipelined: true },
      );
      const api = narrow.as(alice.token);
      const reads = () => Promise.all([1, 2].map(() => narrowDb.query(isReplica, [])));
      await Promise.all([narrowDb.query(demote(true), []), narrowDb.query(demote(true), [])]);
      expect((await reads()).flat()).toEqual([{ on: 'on' }, { on: 'on' }]);
      for (const hasKey of [false, true]) {
        let headers: Record<string, string> = {};
        const write = () => api.post('/notes', {}, { headers });
        // A write in the background may use the connection to the replica first.
        const rejected = await until('a write to the replica', async () => {
          if (hasKey) headers = { 'idempotency-key': randomUUID() };
          await narrowDb.query(demote(false), []);
          const response = await write();
          return response.status !== 201 && response;
        });
        expect([rejected.status, rejected.body.error, rejected.headers.get('retry-after')]).toEqual([
          503,
          'database_unavailable',
          '1',
        ]);
        expect((await write()).status).toBe(201);
      }
      expect((await reads()).flat()).toEqual([{ on: 'off' }, { on: 'off' }]);
    });

    test('when too many wait for it, new requests are rejected, and waiting ones are served', async () => {
      const narrowDb = narrow.get<Db>(Db);
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      let held: () => void = () => undefined;
      const holding = new Promise<void>((resolve) => (held = resolve));
      const { api } = { api: narrow.as(alice.token) };
      expect((await api.get('/notes')).status).toBe(200);
      const as = (user: string) => ({ workspace: 'other', user });
      const hold = () =>
        narrowDb.tx(async () => {
          held();
          await released;
        });
      const holder = inWorkOf(as('holder'), hold);
      await holding;
      let settled = 0;
      const waiting = Array.from({ length: 60 }, () => api.get('/notes').finally(() => (settled += 1)));
      // Two fifths of the 50 places of the queue, the share of a user.
      const requests = () => narrowDb.main.poolState.uses.requests;
      await until('the share of the user to be full', () => requests().waiting >= 20);
      const rejected = await Promise.any(waiting);
      expect([rejected.status, rejected.body.error, rejected.headers.get('retry-after')]).toEqual([
        503,
        'overloaded',
        '1',
      ]);
      await until('the other rejections', () => settled === 40);
      for (const path of ['/notes', '/notes?limit=1']) expect((await api.get(path)).status).toBe(503);
      const others = ['ann', 'ben'].flatMap((user) =>
        Array.from({ length: 15 }, () => inWorkOf(as(user), () => narrowDb.query(touch, ['none']))),
      );
      await until('the queue to be full', () => requests().waiting >= 50);
      await expect(inWorkOf(as('late'), () => narrowDb.tx(async () => 1))).rejects.toThrow('too many');
      // Jobs have a connection of their own.
      await narrowDb.query(touch, ['none']);
      release();
      await holder;
      await Promise.all(others);
      const statuses = (await Promise.all(waiting)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expect((await api.get('/notes')).status).toBe(200);
    });
  });

  describe('gone', () => {
    test('is 503 and not ready; requests succeed when it is back', async () => {
      const proxy = await DatabaseProxy.start(app.databaseUrl);
      const through = await TestApp.start({}, proxy.url);
      try {
        const client = through.as(alice.token);
        expect([(await client.get('/notes')).status, (await client.get('/health/ready')).status]).toEqual([
          200, 200,
        ]);
        await proxy.cut();
        for (const attempt of [
          () => client.get('/notes'),
          () => client.post('/notes', {}),
          () => client.post('/notes', {}, { headers: { 'idempotency-key': 'gone' } }),
        ]) {
          const { status, headers, body } = await attempt();
          expect([status, body.error, headers.get('retry-after')]).toEqual([
            503,
            'database_unavailable',
            '1',
          ]);
        }
        const ready = await client.get('/health/ready');
        expect([ready.status, ready.body.error]).toEqual([503, 'not_ready']);
        expect((await client.get('/health/live')).body).toEqual({ status: 'ok' });
        await proxy.restore();
        await until('readiness', async () => (await client.get('/health/ready')).status === 200);
        expect((await client.get('/notes')).status).toBe(200);
        expect((await client.post('/notes', {}, { headers: { 'idempotency-key': 'gone' } })).status).toBe(
          201,
        );
      } finally {
        await through.stop();
        await proxy.cut();
      }
    });

    test('without the end of its connections is 503 too, not an endless wait; requests succeed when it is back', async () => {
      const proxy = await DatabaseProxy.start(app.databaseUrl);
      const through = await withTimeouts({ response: 3_000, connect: 2_000 }, () =>
        TestApp.start({ DATABASE_POOL_MAX: '3' }, proxy.url),
      );
      try {
        const client = through.as(alice.token);
        // Opens three connections by three concurrent requests: later requests then use connections that have become silent.
        const ask = () =>
          Promise.all([
            client.get('/notes'),
            client.post('/notes', {}),
            client.post('/notes', {}, { headers: { 'idempotency-key': 'silent' } }),
          ]);
        // On a busy machine a response may take longer than the limit.
        const served = () =>
          until('responses', async () => (await ask()).map(({ status }) => status).join() === '200,201,201');
        await served();
        proxy.silence();
        // First the requests use the silent connections, then new ones, which get no response either.
        for (let n = 0; n < 2; n += 1) {
          for (const { status, headers, body } of await ask()) {
            expect([status, headers.get('retry-after')]).toEqual([503, '1']);
            // A request that waits for its share, which a silent connection holds, cannot know the reason.
            expect(['database_unavailable', 'overloaded']).toContain(body.error);
          }
          expect(through.get<Db>(Db).main.poolState.idle).toBe(0);
        }
        await proxy.restore();
        await served();
      } finally {
        await through.stop();
        await proxy.cut();
      }
    });

    test('connections ended by the server are replaced', async () => {
      const client = app.as(alice.token);
      await Promise.all(Array.from({ length: 5 }, () => client.get('/notes')));
      const ended = await inDatabase(
        app.databaseUrl,
        `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      await until('the end of all', async () => {
        const pids = ended.map(({ pid }) => pid);
        const left = 'SELECT FROM pg_stat_activity WHERE pid = ANY ($1)';
        return (await inDatabase(app.databaseUrl, left, [pids])).length === 0;
      });
      await until('a response', async () => (await client.get('/notes')).status === 200);
    });

    test('a connection that the server ends as soon as it is made fails its statement, and not the process', async () => {
      const proxy = await DatabaseProxy.start(app.databaseUrl);
      const source = createDataSource(app.get(Config), proxy.url, { entities: [], migrations: [] });
      const database = new Database('other', await source.initialize());
      // The data source has made one connection.
      const tx = await database.begin();
      try {
        proxy.joinToStart((pid) => app.sql('SELECT pg_terminate_backend($1)', [pid]));
        const error = await database.query(touch, ['a']).catch((reason: unknown) => reason);
        expect([(error as Error).message, isConnectionError(error)]).toEqual([
          'terminating connection due to administrator command',
          true,
        ]);
        expect(await database.query(touch, ['a'])).toEqual([{ name: 'a' }]);
      } finally {
        await tx.rollBack();
        await tx.release();
        await database.close();
        await proxy.cut();
      }
    });

    test('a row that stays locked is 503, not an endless wait', async () => {
      const hasty = await withTimeouts({ lock: 1_000 }, () => TestApp.start({}, app.databaseUrl));
      try {
        const { body } = await alice.api.post('/notes', { title: 'locked' });
        const update = () =>
          hasty.as(alice.token).patch(`/notes/${body.note.id}`, { title: 'x', base_revision: 1 });
        const rejected = await inTransaction(app.databaseUrl, async (holder) => {
          await holder.query('SELECT 1 FROM notes WHERE id = $1 FOR UPDATE', [body.note.id]);
          return update();
        });
        expect([rejected.status, rejected.body.error]).toEqual([503, 'overloaded']);
        await until('the end of the lock', async () => (await update()).status === 200);
      } finally {
        await hasty.stop();
      }
    });
  });

  test('two first starts at the same time use the same secret', async () => {
    const database = await cloneDatabase();
    const start = await TestApp.start({}, database.url);
    const keyring = new Keyring(start.get<Db>(Db));
    try {
      await inDatabase(database.url, 'DELETE FROM platform_secrets');
      await inTransaction(database.url, async (other) => {
        await other.query(
          `INSERT INTO platform_secrets (purpose, id, material) VALUES ('hmac', '00000000-0000-7000-8000-000000000000', 'other')`,
        );
        const ready = keyring.onModuleInit();
        // It waits for the commit of the other one. A defect would be that it uses a secret of its own.
        await until(
          'a lock wait or a secret of its own',
          async () => (await lockWaits(other)).length > 0 || keyring.installationId !== '',
        );
        await other.query('COMMIT');
        await ready;
      });
      expect(keyring.installationId).toBe('00000000-0000-7000-8000-000000000000');
    } finally {
      await start.stop();
      await database.drop();
    }
  });
});
