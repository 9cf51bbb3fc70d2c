import type pg from 'pg';
import { GuessLocks, type GuessLimit } from '../../../src/platform/rate-limits/guess-locks.js';
import { type RateLimit, RateLimits } from '../../../src/platform/rate-limits/rate-limits.js';
import { Db } from '../../../src/platform/database/db.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { TestApp } from '../../support/app.ts';
import { afterChange } from '../../support/database/locks.ts';
import { leastTrips } from '../../support/database/round-trips.ts';

describe('limits in the database', () => {
  let one: TestApp;
  let two: TestApp;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const processes = () => [one, two] as const;
  const limits = (n = 0) => processes()[n % 2]!.get(RateLimits);
  /** Slow enough that no request is regained during a test. */
  const slow = (scope: string, requests: number, burst?: number): RateLimit => ({
    scope,
    requests,
    burst,
    perSeconds: 100_000 * requests,
  });

  test('requests of a user are limited over HTTP, also those of a batch', async () => {
    const app = await TestApp.start({ API_REQUESTS_PER_MINUTE: '5', CORS_ORIGINS: '*' }, one.databaseUrl);
    try {
      const [alice, bob, carol] = await app.tenant('limited', 'alice', 'bob', 'carol');
      const statuses = [];
      for (let n = 0; n < 7; n += 1) statuses.push((await alice.api.get('/notes')).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
      const { body, headers } = await alice.api.request('GET', '/notes', {
        headers: { origin: 'https://a.example' },
      });
      expect(body.error).toBe('too_many_requests');
      const wait = Number(headers.get('retry-after'));
      expect([wait > 0, wait <= 12]).toEqual([true, true]);
      expect(headers.get('ratelimit-limit')).toBe('5');
      expect(headers.get('ratelimit-remaining')).toBe('0');
      expect(headers.get('ratelimit-reset')).toBe(String(wait));
      expect(headers.get('access-control-expose-headers')).toContain('RateLimit-Reset');
      expect((await bob.api.get('/notes')).status).toBe(200);
      const requests = Array.from({ length: 6 }, (_, n) => ({
        id: String(n),
        method: 'GET',
        path: '/apis/v1/notes',
      }));
      const batch = await carol.api.post('/batch', { mode: 'ordered', stop_on_error: false, requests });
      expect(batch.body.responses.map(({ status }: any) => status)).toEqual([200, 200, 200, 200, 429, 429]);
    } finally {
      await app.stop();
    }
  });

  describe('rate limits', () => {
    test('40 concurrent requests in two processes do not exceed the limit', async () => {
      const limit = slow('parallel', 7);
      const waits = await Promise.all(
        Array.from({ length: 40 }, (_, n) => limits(n).take({ limit, subject: 'a' })),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(7);
      for (const wait of waits.filter((each) => each > 0)) {
        expect(wait).toBeGreaterThan(90_000);
        expect(wait).toBeLessThanOrEqual(100_000);
      }
    });

    test('a request that waits for the first one of a limit is accepted', async () => {
      const limit = slow('waited', 2);
      const take = () => limits().take({ limit, subject: 'a' });
      expect(await take()).toBe(0);
      // As if the request of the other transaction, the first one, had begun after the waiting one.
      const change = (other: pg.Client) =>
        other.query(
          `UPDATE rate_limits SET paid_until = clock_timestamp() + interval '100000 s' WHERE scope = 'waited'`,
        );
      expect(await afterChange(one.databaseUrl, change, take, { meanwhile: change })).toBe(0);
      expect(await take()).toBeGreaterThan(90_000);
    });

    test('each subject and each scope has its own limit', async () => {
      const limit = slow('own', 1);
      expect(await limits().take({ limit, subject: 'a' })).toBe(0);
      expect(await limits().take({ limit, subject: 'a' })).toBeGreaterThan(0);
      expect(await limits().take({ limit, subject: 'b' })).toBe(0);
      expect(await limits().take({ limit: slow('other', 1), subject: 'a' })).toBe(0);
    });

    test('one request is regained per interval, at most the burst', async () => {
      const limit: RateLimit = { scope: 'pace', requests: 60, perSeconds: 6_000, burst: 3 };
      const take = async () => (await two.get(RateLimits).take({ limit, subject: 'a' })) === 0;
      const pass = (seconds: number) =>
        one.sql(
          `UPDATE rate_limits SET paid_until = paid_until - make_interval(secs => $1) WHERE scope = 'pace'`,
          [seconds],
        );
      // The process caches rejections by wall time, so the cache is cleared after each series.
      const taken = async () => {
        let n = 0;
        while (n < 10 && (await take())) n += 1;
        two.get<any>(RateLimits).rejections.clear();
        return n;
      };
      expect(await taken()).toBe(3);
      expect(await taken()).toBe(0);
      await pass(101);
      expect(await taken()).toBe(1);
      await pass(100_000);
      expect(await taken()).toBe(3);
    });

    test('several limits are one round trip; a cached rejection needs none', async () => {
      const db = one.get<Db>(Db);
      const [a, b] = [slow('trip-a', 1), slow('trip-b', 5)];
      const taking = async (run: number) => {
        const subject = `x${run}`;
        expect(await limits().take({ limit: a, subject }, { limit: b, subject })).toBe(0);
      };
      expect(await leastTrips(db, taking)).toBe(1);
      const subject = 'x0';
      expect(await limits().take({ limit: b, subject }, { limit: a, subject })).toBeGreaterThan(0);
      const rejected = async () => expect(await limits().take({ limit: a, subject })).toBeGreaterThan(0);
      expect(await leastTrips(db, rejected)).toBe(0);
    });

    test('rejects with 429 and Retry-After', async () => {
      const limit = slow('enforced', 1);
      await limits().enforce({ limit, subject: 'a' });
      await expect(limits().enforce({ limit, subject: 'a' })).rejects.toMatchObject({
        kind: { status: 429, code: 'too_many_requests' },
        extras: { headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } },
      });
    });

    test('stores no subjects in clear', async () => {
      await limits().take({ limit: slow('private', 1), subject: 'alice@acme.example' });
      const [row] = await one.sql(
        `SELECT subject, r::text AS whole FROM rate_limits r WHERE scope = 'private'`,
      );
      expect(row.subject).toHaveLength(16);
      expect(row.whole).not.toContain('alice');
    });

    test('expired rows are deleted', async () => {
      await limits().take({ limit: slow('old', 1), subject: 'a' }, { limit: slow('new', 1), subject: 'a' });
      await one.sql(`UPDATE rate_limits SET paid_until = now() - interval '1 hour' WHERE scope = 'old'`);
      await one.sql('DELETE FROM job_runs');
      await one.get<PeriodicJobs>(PeriodicJobs).runDue();
      const rows = await one.sql(`SELECT scope FROM rate_limits WHERE scope IN ('old', 'new')`);
      expect(rows).toEqual([{ scope: 'new' }]);
    });
  });

  describe('guesses', () => {
    const what: GuessLimit = { purpose: 'test', allowed: 5, lockSeconds: 900 };
    const begin = (subject: string, n = 0) => processes()[n % 2]!.get(GuessLocks).begin(what, subject);
    const within = (work: (locks: GuessLocks, tx: any) => Promise<void>) =>
      one.get<Db>(Db).tx((tx) => work(one.get(GuessLocks), tx));

    test('20 concurrent guesses in two processes: five are allowed, one of them is the last', async () => {
      const guesses = await Promise.all(Array.from({ length: 20 }, (_, n) => begin('parallel', n)));
      const allowed = guesses.filter((guess) => guess.allowed);
      expect(allowed).toHaveLength(5);
      expect(allowed.filter((guess) => guess.allowed && guess.last)).toHaveLength(1);
      for (const guess of guesses)
        if (!guess.allowed) expect(guess.wait > 890 && guess.wait <= 900).toBe(true);
    });

    test('success resets; discounted guesses do not count', async () => {
      for (let n = 0; n < 4; n += 1) await begin('forgiven');
      await within((locks, tx) => locks.forget(tx, what, 'forgiven'));
      for (let n = 0; n < 4; n += 1) expect(await begin('forgiven')).toEqual({ allowed: true, last: false });
      for (let n = 0; n < 20; n += 1) {
        expect(await begin('forgiven')).toEqual({ allowed: true, last: true });
        await within((locks, tx) => locks.giveBack(tx, what, 'forgiven'));
      }
      expect(await begin('forgiven')).toEqual({ allowed: true, last: true });
      expect(await begin('forgiven')).toMatchObject({ allowed: false });
    });

    test('old failures expire, and an expired lock starts again', async () => {
      const age = (seconds: number) =>
        one.sql(
          `UPDATE guess_locks SET last_at = last_at - make_interval(secs => $1),
                  locked_until = locked_until - make_interval(secs => $1) WHERE purpose = 'test'`,
          [seconds],
        );
      for (let n = 0; n < 4; n += 1) await begin('aged');
      await age(901);
      for (let n = 0; n < 5; n += 1) expect((await begin('aged')).allowed).toBe(true);
      expect((await begin('aged')).allowed).toBe(false);
      await age(901);
      for (let n = 0; n < 5; n += 1) expect((await begin('aged')).allowed).toBe(true);
      expect((await begin('aged')).allowed).toBe(false);
    });

    test('a lock survives a restart', async () => {
      for (let n = 0; n < 6; n += 1) await begin('restart');
      const later = await TestApp.start({}, one.databaseUrl);
      try {
        expect(await later.get(GuessLocks).begin(what, 'restart')).toMatchObject({ allowed: false });
      } finally {
        await later.stop();
      }
      const [{ kind }] = (await one.sql(
        `SELECT relpersistence AS kind FROM pg_class WHERE relname = 'guess_locks'`,
      )) as [{ kind: string }];
      expect(kind).toBe('p');
    });
  });
});
