import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { PasswordSignIn } from '../../../src/modules/account-security/passwords/password-sign-in.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { scrape } from '../../../src/platform/observability/scrape.js';
import { TestApp, type UsersOf } from '../../support/app.ts';
import { TestSocket } from '../../support/network/socket.ts';
import { until } from '../../support/until.ts';

describe('metrics', () => {
  let app: TestApp;
  let users: UsersOf<['alice']>;

  beforeAll(async () => {
    app = await TestApp.start({ METRICS_PORT: '9', DATABASE_POOL_MAX: '10' });
    users = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());

  /** The samples of a scrape by name and labels. */
  async function samples(): Promise<Map<string, number>> {
    const read = app.served.metrics.read.bind(app.served.metrics);
    const text = await scrape([{ process: 'primary', hasInstallation: true, read }]);
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
    );
  }

  test('the outbox: number and age of its events by state', async () => {
    const insert = (columns: string, values: string) =>
      app.sql(
        `INSERT INTO outbox (tenant_id, id, type, payload, due_at, occurred_at${columns})
         VALUES ($1, $2, 'test.unknown', '{}', now() + interval '1 day', ${values})`,
        [users[0].tenantId, uuidv7()],
      );
    await app.sql('DELETE FROM outbox');
    let seen = await samples();
    expect(seen.get('outbox_events{state="pending"}')).toBe(0);
    expect(seen.get('outbox_oldest_seconds{state="parked"}')).toBe(0);
    await insert('', `now() - interval '100 s'`);
    await insert('', `now() - interval '50 s'`);
    await insert(', last_error', `now() - interval '1000 s', 'x'`);
    await insert(', last_error, parked_at', `now() - interval '5000 s', 'x', now()`);
    seen = await samples();
    const events = (state: string) => seen.get(`outbox_events{state="${state}"}`);
    const oldest = (state: string) => seen.get(`outbox_oldest_seconds{state="${state}"}`);
    expect([events('pending'), events('retrying'), events('parked')]).toEqual([2, 1, 1]);
    for (const [state, age] of [
      ['pending', 100],
      ['retrying', 1_000],
      ['parked', 5_000],
    ] as const) {
      expect(oldest(state)).toBeGreaterThanOrEqual(age);
      expect(oldest(state)).toBeLessThan(age + 1_000);
    }
    await app.sql('DELETE FROM outbox');
  });

  test('jobs: runs, failures and duration of this process; last success, failure and interval of all', async () => {
    const jobs = app.get<PeriodicJobs>(PeriodicJobs);
    let fails = true;
    jobs.register({
      name: 'metrics-test',
      everySeconds: 7,
      run: async () => {
        if (fails) throw new Error('broken on purpose');
      },
    });
    const runAgain = async () => {
      await app.sql(`UPDATE job_runs SET ran_at = now() - interval '1 day' WHERE name = 'metrics-test'`);
      await jobs.runDue();
    };
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await runAgain();
    expect(warn).toHaveBeenCalled();
    warn.mockRestore();
    const rowNow = async () =>
      (await app.sql(`SELECT succeeded_at, failed_at, error FROM job_runs WHERE name = 'metrics-test'`))[0];
    expect(await rowNow()).toEqual({
      succeeded_at: null,
      failed_at: expect.any(Date),
      error: 'Error: broken on purpose',
    });
    let seen = await samples();
    expect(seen.get('job_run_seconds_count{process="primary",name="metrics-test",outcome="failed"}')).toBe(1);
    expect(seen.get('job_interval_seconds{name="metrics-test"}')).toBe(7);
    expect(seen.get('job_last_failure_timestamp_seconds{name="metrics-test"}')).toBeGreaterThan(1e9);
    expect(seen.has('job_last_success_timestamp_seconds{name="metrics-test"}')).toBe(false);
    fails = false;
    await runAgain();
    expect(await rowNow()).toEqual({ succeeded_at: expect.any(Date), failed_at: null, error: null });
    seen = await samples();
    const runs = 'process="primary",name="metrics-test",outcome="succeeded"';
    expect(seen.get(`job_run_seconds_count{${runs}}`)).toBe(1);
    expect(seen.get(`job_run_seconds_sum{${runs}}`)).toBeGreaterThan(0);
    expect(seen.get('job_last_success_timestamp_seconds{name="metrics-test"}')).toBeGreaterThan(1e9);
    expect(seen.has('job_last_failure_timestamp_seconds{name="metrics-test"}')).toBe(false);
  });

  test('bytes of requests by route', async () => {
    const { api } = users[0];
    const content = `<p>${'text '.repeat(100_000)}</p>`;
    const { note } = (await api.post('/notes', { title: 'Long', content })).body;
    await api.get(`/notes/${note.id}`);
    const seen = await until('the request to be counted', async () => {
      const found = await samples();
      return (
        found.has(
          'http_request_bytes_total{process="primary",method="GET",route="/apis/v1/notes/:id",kind="response"}',
        ) && found
      );
    });
    for (const kind of ['database', 'response']) {
      const bytes = seen.get(
        `http_request_bytes_total{process="primary",method="GET",route="/apis/v1/notes/:id",kind="${kind}"}`,
      );
      expect(bytes).toBeGreaterThan(500_000);
      expect(bytes).toBeLessThan(600_000);
    }
  });

  test('failed sign-ins and locks', async () => {
    const signIn = app.get<PasswordSignIn>(PasswordSignIn);
    const before = await samples();
    const guess = () =>
      signIn.verify({ email: users[0].email, password: 'not the password', ip: '192.0.2.7' });
    let failures = 0;
    // Until the account is locked: further guesses are not counted.
    while ((await guess()).outcome === 'rejected') failures += 1;
    expect(failures).toBeGreaterThan(0);
    const seen = await samples();
    const name = 'sign_in_failures_total{process="primary",factor="password"}';
    expect((seen.get(name) ?? 0) - (before.get(name) ?? 0)).toBe(failures);
    expect(seen.get('sign_in_locks_total{process="primary",scope="network"}')).toBe(1);
  });

  test('sockets, the pool, and mails of the workspace itself', async () => {
    const socket = await TestSocket.open(app, users[0]);
    await app.sql(
      `INSERT INTO system_mails (tenant_id, id, key, template, recipient, language, state, created_at, expires_at)
       VALUES ($1, $2, 'metrics', 'none', 'a@b.example', 'en', 'queued', now() - interval '90 s', now() + interval '1 day')`,
      [users[0].tenantId, uuidv7()],
    );
    const seen = await samples();
    expect(seen.get('realtime_sockets{process="primary",state="authenticated"}')).toBe(1);
    expect(seen.get('realtime_sockets{process="primary",state="unauthenticated"}')).toBe(0);
    const pool = (use: string, state: string) =>
      seen.get(`database_pool_connections{process="primary",cell="main",use="${use}",state="${state}"}`);
    expect(['requests', 'jobs', 'process'].map((use) => pool(use, 'max'))).toEqual([7, 3, 2]);
    expect(['requests', 'jobs', 'process'].map((use) => pool(use, 'waiting'))).toEqual([0, 0, 0]);
    expect(pool('any', 'idle')).toBeGreaterThan(0);
    expect(seen.get('system_mail_queued')).toBe(1);
    expect(seen.get('system_mail_oldest_seconds')).toBeGreaterThanOrEqual(90);
    expect(seen.get('database_up')).toBe(1);
    expect(seen.get('nodejs_eventloop_lag_p99_seconds{process="primary"}')).toBeDefined();
    socket.socket.close();
    await app.sql('DELETE FROM system_mails');
  });

  test('a failed query leaves out its values, and the scrape reports it', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    await app.sql('ALTER TABLE system_mails RENAME TO elsewhere');
    const broken = await samples();
    await app.sql('ALTER TABLE elsewhere RENAME TO system_mails');
    expect(warn).toHaveBeenCalled();
    warn.mockRestore();
    expect(broken.get('database_up')).toBe(0);
    expect(broken.has('system_mail_queued')).toBe(false);
    expect(broken.has('outbox_events{state="pending"}')).toBe(true);
    expect(broken.has('nodejs_heap_size_total_bytes{process="primary"}')).toBe(true);
    expect((await samples()).get('database_up')).toBe(1);
  });
});
