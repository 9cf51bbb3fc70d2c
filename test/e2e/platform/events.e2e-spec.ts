import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Db, MAIN } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { type DomainEvent, Outbox } from '../../../src/platform/events/outbox.js';
import { OutboxDelivery, OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TxHook, TxHooks } from '../../../src/platform/events/tx-hooks.js';
import { JobMetrics, PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { TestApp } from '../../support/app.ts';
import { fakeOnly } from '../../support/clock.ts';
import { until } from '../../support/until.ts';
import { leastTrips } from '../../support/database/round-trips.ts';

const TENANT = uuidv7();

/** A promise and the function that resolves it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('effects beside and after a transaction', () => {
  let app: TestApp;
  let second: TestApp;
  let db: Db;
  let outbox: Outbox;

  beforeAll(async () => {
    app = await TestApp.start();
    second = await TestApp.start({}, app.databaseUrl);
    db = app.get<Db>(Db);
    outbox = app.get<Outbox>(Outbox);
    Logger.overrideLogger(false);
  });
  afterAll(async () => {
    await second?.stop();
    await app?.stop();
  });

  const worker = (of = app) => of.get<OutboxWorker>(OutboxWorker);
  let n = 0;
  const newType = () => `test.happened_${(n += 1)}`;
  // As another process writes it: this process is not notified, and the tests start the delivery.
  const append = async (type: string, payload: object = {}) =>
    (
      await app.sql(
        'INSERT INTO outbox (tenant_id, id, type, payload) VALUES ($1, $2, $3, $4) RETURNING id',
        [TENANT, uuidv7(), type, payload],
      )
    )[0].id as string;
  const stored = (type: string) =>
    app.sql(
      `SELECT attempts, parked_at IS NOT NULL AS parked, last_error, due_at FROM outbox WHERE type = $1 ORDER BY id`,
      [type],
    );
  const clock = async (): Promise<number> =>
    (await app.sql<{ now: Date }>('SELECT clock_timestamp() AS now'))[0]!.now.getTime();
  /** A worker without a timer, for a type whose events no other worker delivers. */
  const ownWorker = (
    type: string,
    ...handlers: ((event: DomainEvent) => Promise<void>)[]
  ): OutboxDelivery => {
    const own = new Outbox();
    for (const [index, handler] of handlers.entries()) own.subscribe(type, `test ${index}`, handler);
    return new OutboxDelivery(db, own, 'local', MAIN);
  };
  const nowDue = (type: string) =>
    app.sql(`UPDATE outbox SET due_at = now() - make_interval(secs => 1) WHERE type = $1`, [type]);

  describe('outbox', () => {
    test('delivers an event once after its commit, with its payload', async () => {
      const type = newType();
      const heard: DomainEvent[] = [];
      outbox.subscribe(type, 'test', async (event) => void heard.push(event));
      await db.tx(async (tx) => {
        await outbox.append(tx, { tenantId: TENANT, type, payload: { a: ['ü', 1] } });
        await worker().drain();
        expect(heard).toEqual([]);
      });
      await until('a delivery by the worker itself', () => heard.length > 0);
      expect(heard).toEqual([
        {
          id: expect.any(String),
          tenantId: TENANT,
          type,
          payload: { a: ['ü', 1] },
          occurredAt: expect.any(Date),
        },
      ]);
      await until('the removal of the row', async () => (await stored(type)).length === 0);
      await worker().drain();
      expect(heard).toHaveLength(1);
    });

    test('a rolled back transaction leaves no event and notifies no worker', async () => {
      const type = newType();
      const failing = db.tx(async (tx) => {
        await outbox.append(tx, { tenantId: TENANT, type, payload: {} });
        tx.afterCommit(() => {
          throw new Error('must not run');
        });
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await stored(type)).toEqual([]);
    });

    test('delivers in the order of the events, in batches, whatever their number', async () => {
      const type = newType();
      const heard: unknown[] = [];
      const own = ownWorker(type, async ({ payload }) => void heard.push(payload['n']));
      const ids = Array.from({ length: 250 }, () => uuidv7());
      await app.sql(
        `INSERT INTO outbox (tenant_id, id, type, payload) SELECT $1, id, $2, jsonb_build_object('n', n - 1)
           FROM unnest($3::uuid[]) WITH ORDINALITY AS e (id, n) ORDER BY md5(id::text)`,
        [TENANT, type, ids],
      );
      // Each event becomes due after the one before, as if they had been written one by one.
      await app.sql(
        `UPDATE outbox SET due_at = now() - interval '1 minute' + (payload->>'n')::int * interval '1 ms' WHERE type = $1`,
        [type],
      );
      expect(await own.drain()).toBe(250);
      expect(heard).toEqual(ids.map((_, index) => index));
      expect(await stored(type)).toEqual([]);
    });

    test('a notice costs one query of the table', async () => {
      outbox.subscribe(newType(), 'test', async () => undefined);
      const notice = async () => {
        const before = db.roundTrips;
        await db.single(async (tx) => outbox.notice(tx));
        await until('the query', () => db.roundTrips > before);
        // A second query would follow at once.
        await delay(50);
      };
      expect(await leastTrips(db, notice)).toBe(1);
    });

    test('a failing event is retried with growing delays, then parked; the others are delivered', async () => {
      const type = newType();
      const [bad, good] = [await append(type), await append(type)];
      const handled: string[] = [];
      const own = ownWorker(
        type,
        async ({ id }) => void handled.push(id),
        async ({ id }) => {
          if (id === bad) throw new Error('not today');
        },
      );
      const pauses = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600];
      for (const [index, pause] of pauses.entries()) {
        const began = await clock();
        await own.drain();
        const ended = await clock();
        const [row, ...others] = await stored(type);
        expect([row.attempts, row.parked, row.last_error, others]).toEqual([
          index + 1,
          index === 11,
          'Error: not today',
          [],
        ]);
        const due = row.due_at.getTime();
        expect([due >= began + pause * 1_000, due <= ended + pause * 1_000]).toEqual([true, true]);
        await app.sql(`UPDATE outbox SET due_at = now() + interval '1 hour' WHERE type = $1`, [type]);
        await own.drain();
        expect(await stored(type)).toMatchObject([{ attempts: index + 1 }]);
        await nowDue(type);
      }
      await own.drain();
      expect(handled).toEqual([bad, good, ...Array.from({ length: 11 }, () => bad)]);
    });

    test('an event that kills its process is claimed alone, then parked; the others are delivered', async () => {
      const type = newType();
      const heard: string[] = [];
      const ids = [await append(type), await append(type), await append(type)] as const;
      const killer = ids[1];
      // The state after a crash: the events were claimed together three times, then one of them alone until no attempt was left.
      await app.sql('UPDATE outbox SET attempts = CASE id WHEN $2::uuid THEN 12 ELSE 3 END WHERE type = $1', [
        type,
        killer,
      ]);
      const claims: number[] = [];
      const own = ownWorker(type, async ({ id }) => {
        heard.push(id);
        const [{ claimed }] = await app.sql(
          `SELECT count(*)::int AS claimed FROM outbox WHERE type = $1 AND due_at > now() AND parked_at IS NULL`,
          [type],
        );
        claims.push(claimed);
      });
      await own.drain();
      expect(heard.toSorted()).toEqual([ids[0], ids[2]].toSorted());
      expect(claims).toEqual([1, 1]);
      expect(await stored(type)).toEqual([
        expect.objectContaining({ attempts: 13, parked: true, last_error: expect.stringContaining('ended') }),
      ]);
    });

    test('recovers when the handler does', async () => {
      const type = newType();
      let broken = true;
      outbox.subscribe(type, 'test', async () => {
        if (broken) throw new Error('not yet');
      });
      await append(type);
      await worker().drain();
      broken = false;
      await nowDue(type);
      await worker().drain();
      expect(await stored(type)).toEqual([]);
    });

    test('two workers share the work and never deliver the same event at the same time', async () => {
      const type = newType();
      const heard: string[] = [];
      for (const each of [app, second]) {
        each.get<Outbox>(Outbox).subscribe(type, 'test', async ({ id }) => void heard.push(id));
      }
      const ids = await Promise.all(Array.from({ length: 300 }, () => append(type)));
      await Promise.all([worker().drain(), worker(second).drain(), worker().drain(), worker(second).drain()]);
      expect(heard.toSorted()).toEqual(ids.toSorted());
    });

    test('a slow worker keeps its claims; those of a killed worker are taken over', async () => {
      const type = newType();
      const [started, finish] = [gate(), gate()];
      const heard: string[] = [];
      const slow = ownWorker(type, async ({ id }) => {
        heard.push(`slow ${id}`);
        started.open();
        await finish.opened;
      });
      const other = ownWorker(type, async ({ id }) => void heard.push(`other ${id}`));
      const [one, two] = [await append(type), await append(type)];
      fakeOnly(['setInterval', 'clearInterval']);
      try {
        const working = slow.drain();
        await started.opened;
        // The lease would end in ten seconds, and the worker renews it.
        await app.sql(`UPDATE outbox SET due_at = now() + interval '10 seconds' WHERE type = $1`, [type]);
        jest.advanceTimersByTime(20_000);
        await until('the renewal', async () => {
          const rows = `SELECT FROM outbox WHERE type = $1 AND due_at > now() + interval '30 seconds'`;
          return (await app.sql(rows, [type])).length === 2;
        });
        await other.drain();
        expect(heard).toEqual([`slow ${one}`]);
        // As after the end of the process, the claim expires without a renewal.
        await app.sql(
          `UPDATE outbox SET due_at = now() - make_interval(secs => 1), attempts = attempts + 1 WHERE type = $1`,
          [type],
        );
        await other.drain();
        expect(heard).toEqual([`slow ${one}`, `other ${one}`, `other ${two}`]);
        finish.open();
        await working;
      } finally {
        finish.open();
        jest.useRealTimers();
      }
    });

    test('a worker whose claim has been taken over neither deletes nor postpones the event', async () => {
      const type = newType();
      const due_at = new Date('2999-01-01T00:00:00Z');
      const own = ownWorker(type, async ({ payload }) => {
        await app.sql(`UPDATE outbox SET attempts = 7, due_at = $2 WHERE type = $1`, [type, due_at]);
        if (payload['fails']) throw new Error('late');
      });
      for (const fails of [false, true]) {
        await append(type, { fails });
        await own.drain();
        expect(await stored(type)).toMatchObject([{ attempts: 7, last_error: null, due_at }]);
        await app.sql('DELETE FROM outbox WHERE type = $1', [type]);
      }
    });

    test('an event without a handler is dropped, but not while a newer version could handle it', async () => {
      const type = newType();
      await append(type);
      await worker().drain();
      expect(await stored(type)).toHaveLength(1);
      await app.sql(`UPDATE outbox SET due_at = now() - interval '6 minutes' WHERE type = $1`, [type]);
      await worker().drain();
      expect(await stored(type)).toEqual([]);
    });

    test('a handler that waits for another server delays no events of other queues', async () => {
      const [waiting, local] = [newType(), newType()];
      const [started, server] = [gate(), gate()];
      const heard: string[] = [];
      outbox.subscribe(
        waiting,
        'test',
        async () => {
          started.open();
          await server.opened;
        },
        'calls',
      );
      outbox.subscribe(local, 'test', async ({ type }) => void heard.push(type));
      try {
        await db.tx((tx) => outbox.append(tx, { tenantId: TENANT, type: waiting, payload: {} }));
        await started.opened;
        await db.tx((tx) => outbox.append(tx, { tenantId: TENANT, type: local, payload: {} }));
        await until('the other event', () => heard.length === 1);
        expect(() => outbox.subscribe(waiting, 'other', async () => undefined)).toThrow('in the queue calls');
      } finally {
        server.open();
      }
    });

    test('the events whose handlers wait for another server are in its queue', () => {
      expect(outbox.typesOf('relay')).toEqual(['system_mail.queued']);
      expect(outbox.typesOf('mail').toSorted()).toEqual([
        'application_password.removing',
        'calendar.message.due',
        'mail.calendar.received',
      ]);
      expect(outbox.typesOf('calls').filter((type) => !type.startsWith('test.'))).toEqual(
        expect.arrayContaining(['call.access_changed', 'call.joined', 'call.room_unused']),
      );
      expect(outbox.typesOf('files')).toEqual(['call.recording_complete']);
    });

    test('a consumer registers once', () => {
      const type = newType();
      outbox.subscribe(type, 'mine', async () => undefined);
      expect(() => outbox.subscribe(type, 'mine', async () => undefined)).toThrow('mine already handles');
    });

    test('a stopping worker releases its remaining claims', async () => {
      const type = newType();
      const [started, finish] = [gate(), gate()];
      const heard: string[] = [];
      const own = ownWorker(type, async ({ id }) => {
        heard.push(id);
        started.open();
        await finish.opened;
      });
      const [one] = [await append(type), await append(type)];
      const working = own.drain();
      await started.opened;
      const ended = own.stop();
      finish.open();
      await Promise.all([ended, working]);
      expect(heard).toEqual([one]);
      const [left] = await stored(type);
      expect([left.attempts, left.due_at.getTime() <= (await clock())]).toEqual([0, true]);
    });
  });

  describe('hooks inside a transaction', () => {
    const write = either.statement<never>(
      'test.hook',
      `INSERT INTO job_runs (name, ran_at) VALUES ($1, now())`,
    );
    const written = async () =>
      (await app.sql(`SELECT name FROM job_runs WHERE name LIKE 'hook %' ORDER BY 1`)).map(
        ({ name }) => name,
      );

    test('run in the order of registration, in the same transaction; an error rolls all back', async () => {
      const hooks = app.get<TxHooks>(TxHooks);
      const hook = new TxHook<{ name: string }>('test.hook');
      for (const step of ['1', '2'])
        hooks.on(hook, (tx, { name }) => tx.query(write, [`hook ${name} ${step}`]).then(() => undefined));
      await db.tx((tx) => hooks.run(tx, hook, { name: 'a' }));
      expect(await written()).toEqual(['hook a 1', 'hook a 2']);

      const seen: string[][] = [];
      hooks.on(hook, async () => {
        seen.push(await written());
        throw new Error('rejected');
      });
      await expect(db.tx((tx) => hooks.run(tx, hook, { name: 'b' }))).rejects.toThrow('rejected');
      expect(await written()).toEqual(['hook a 1', 'hook a 2']);
      // Another connection did not see the uncommitted row.
      expect(seen).toEqual([['hook a 1', 'hook a 2']]);
    });

    test('a hook without handlers does nothing', async () => {
      await db.tx((tx) => app.get<TxHooks>(TxHooks).run(tx, new TxHook('test.unused'), {}));
    });
  });

  describe('periodic jobs', () => {
    const both = () => [app, second].map((each) => each.get<PeriodicJobs>(PeriodicJobs));

    test('each runs in one process at a time, and again after its interval', async () => {
      const ran: number[] = [];
      both().forEach((jobs, index) =>
        jobs.register({ name: 'test-job', everySeconds: 60, run: async () => void ran.push(index) }),
      );
      await Promise.all(both().map((jobs) => jobs.runDue()));
      expect(ran).toHaveLength(1);
      await Promise.all(both().map((jobs) => jobs.runDue()));
      expect(ran).toHaveLength(1);
      await app.sql(`UPDATE job_runs SET ran_at = now() - interval '61 seconds' WHERE name = 'test-job'`);
      await Promise.all(both().map((jobs) => jobs.runDue()));
      expect(ran).toHaveLength(2);
    });

    test('run also after the clock of the database was set back', async () => {
      const [jobs] = both();
      let runs = 0;
      jobs!.register({ name: 'test-clock', everySeconds: 60, run: async () => void (runs += 1) });
      await jobs!.runDue();
      await app.sql(`UPDATE job_runs SET ran_at = now() + interval '1 day' WHERE name = 'test-clock'`);
      await jobs!.runDue();
      await jobs!.runDue();
      expect(runs).toBe(2);
    });

    test('a failing effect does not prevent the next one', async () => {
      const [jobs] = both();
      const ran: string[] = [];
      jobs!.register({
        name: 'test-broken',
        everySeconds: 60,
        run: () => Promise.reject(new Error('broken')),
      });
      jobs!.register({ name: 'test-after', everySeconds: 60, run: async () => void ran.push('after') });
      await jobs!.runDue();
      expect(ran).toEqual(['after']);
    });

    test('a job that waits for another server does not delay the others', async () => {
      const [jobs] = both();
      const server = gate();
      const ran: string[] = [];
      const queue = 'mail';
      jobs!.register({ name: 'test-waiting', everySeconds: 60, queue, run: () => server.opened });
      jobs!.register({ name: 'test-local', everySeconds: 60, run: async () => void ran.push('local') });
      const due = jobs!.runDue();
      await until('the other job', () => ran.length === 1);
      server.open();
      await due;
    });

    test('a job that triggers itself does not prevent the others', async () => {
      fakeOnly(['setInterval', 'clearInterval']);
      const jobs = new PeriodicJobs(db, app.get(JobMetrics));
      let isAgain = true;
      try {
        jobs.register({
          name: 'test-again',
          everySeconds: 3_600,
          run: async () => {
            if (isAgain) jobs.trigger('test-again');
          },
        });
        jobs.register({ name: 'test-turn', everySeconds: 0, run: async () => void (isAgain = false) });
        jobs.onApplicationBootstrap();
        jobs.trigger('test-again');
        jest.advanceTimersByTime(15_000);
        await until('the turn of the other job', () => !isAgain);
      } finally {
        isAgain = false;
        await jobs.stop();
        jest.useRealTimers();
      }
    });

    test('run by themselves until they are stopped', async () => {
      fakeOnly(['setInterval', 'clearInterval']);
      try {
        const jobs = new PeriodicJobs(db, app.get(JobMetrics));
        const seen: string[] = [];
        let letGo = gate();
        jobs.register({
          name: 'test-by-itself',
          everySeconds: 0,
          run: async () => {
            seen.push('began');
            await letGo.opened;
            seen.push('ended');
          },
        });
        /** Lets intervals pass, and waits until the work that they start has reached the database. */
        const pass = async () => {
          jest.advanceTimersByTime(60_000);
          await app.sql('SELECT pg_sleep(0.1)');
        };
        jobs.onApplicationBootstrap();
        await pass();
        await until('the first', () => seen.length === 1);
        // A process never runs a job twice at the same time, however long it takes.
        await pass();
        expect(seen).toEqual(['began']);
        const first = letGo;
        letGo = gate();
        first.open();
        await until('the second', async () => {
          await pass();
          return seen.length === 3;
        });
        const stopped = jobs.stop().then(() => seen.push('stopped'));
        await pass();
        letGo.open();
        await stopped;
        await pass();
        expect(seen).toEqual(['began', 'ended', 'began', 'ended', 'stopped']);
      } finally {
        jest.useRealTimers();
      }
    });

    test('old rows are deleted in batches, so that no statement takes too long', async () => {
      const tenant = uuidv7();
      await app.sql(
        `INSERT INTO idempotency_keys (tenant_id, user_id, route, key, fingerprint, status, reply, created_at)
         SELECT $1, $1, 'r', n, '', 200, '{}', now() - interval '25 hours' FROM generate_series(1, 5001) n`,
        [tenant],
      );
      await app.sql(`CREATE TABLE test_deletions (n int);
        CREATE FUNCTION test_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO test_deletions SELECT count(*) FROM removed; RETURN NULL; END $$;
        CREATE TRIGGER test_deleted AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS removed
          FOR EACH STATEMENT EXECUTE FUNCTION test_deleted()`);
      try {
        await app.sql(`DELETE FROM job_runs WHERE name = 'forget-idempotency-keys'`);
        await app.get<PeriodicJobs>(PeriodicJobs).runDue();
        expect(await app.sql('SELECT n FROM test_deletions')).toEqual([{ n: 5_000 }, { n: 1 }]);
      } finally {
        await app.sql(`DROP TRIGGER test_deleted ON idempotency_keys; DROP FUNCTION test_deleted;
          DROP TABLE test_deletions`);
      }
    });

    test('housekeeping deletes old rows only', async () => {
      await app.sql(
        `INSERT INTO idempotency_keys (tenant_id, user_id, route, key, fingerprint, status, reply, created_at)
        SELECT $1, $1, 'r', k, '', 200, '{}', now() - age FROM (VALUES ('old', interval '25 hours'), ('young', interval '23 hours')) v (k, age)`,
        [TENANT],
      );
      await app.sql(
        `INSERT INTO access_changes (id, account_id, created_at) SELECT gen_random_uuid(), $1, now() - age FROM (VALUES (interval '2 hours'), (interval '30 minutes')) v (age)`,
        [TENANT],
      );
      await app.sql(
        `DELETE FROM job_runs WHERE name IN ('forget-idempotency-keys', 'forget-ended-sessions')`,
      );
      await app.get<PeriodicJobs>(PeriodicJobs).runDue();
      expect(await app.sql(`SELECT key FROM idempotency_keys WHERE tenant_id = $1`, [TENANT])).toEqual([
        { key: 'young' },
      ]);
      expect(await app.sql(`SELECT 1 FROM access_changes WHERE account_id = $1`, [TENANT])).toHaveLength(1);
    });
  });
});
