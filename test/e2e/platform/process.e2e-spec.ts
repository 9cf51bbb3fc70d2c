import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import pg from 'pg';
import { Lifecycle } from '../../../src/platform/observability/lifecycle.js';
import { type TestUser, TestApp } from '../../support/app.ts';
import { Client } from '../../support/network/client.ts';
import { SlowRequest } from '../../support/network/multipart.ts';
import { freePort } from '../../support/network/ports.ts';
import { eventsDelivered } from '../../support/database/outbox.ts';
import { until } from '../../support/until.ts';
import { childEnv } from '../../support/installation/child-env.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

/** A process of the application, with its output. */
function start(
  args: string[],
  env: Record<string, string>,
): { child: ChildProcess; output: () => string; exit: Promise<number | null> } {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...childEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, exit };
}

describe('the server as a process', () => {
  let app: TestApp;
  let alice: TestUser;
  let database: pg.Client;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
    database = new pg.Client({ connectionString: app.databaseUrl });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await app?.stop();
  });

  test('serves the demo, logs without secrets and paths, measures by route, and finishes pending requests before it ends', async () => {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const env = {
      DATABASE_URL: app.databaseUrl,
      DEMO: 'true',
      LOG_LEVEL: 'trace',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      ACCESS_LOG: 'on',
    };
    const server = start([path.join(ROOT, 'dist', 'main.js')], env);
    try {
      const demo = await until(
        'the demo token',
        () => /^eyJ\S+$/m.exec(server.output())?.[0] ?? (server.child.exitCode !== null && 'it ended'),
      );
      const base = `http://127.0.0.1:${port}`;
      const client = new Client(base, alice.token);

      // A second application in this process created the demo token, and has been closed.
      expect((await new Client(base, demo).get('/notes')).status).toBe(200);

      const { body } = await client.post('/notes', {
        title: 'SECRET-title',
        content: '<p>SECRET-content</p>',
        labels: ['SECRET-label'],
      });
      const { id } = body.note;
      expect((await client.get(`/notes/${id}?SECRET-query=1`)).status).toBe(200);
      expect(
        (
          await client.get('/notes?q=SECRET-query&access_token=SECRET-token', {
            headers: { cookie: 'SECRET-cookie' },
          })
        ).status,
      ).toBe(200);
      expect((await client.post('/notes', undefined, { raw: '{"SECRET-broken' })).status).toBe(400);
      expect((await client.post('/notes', { title: 7, password: 'SECRET-password' })).status).toBe(422);
      expect((await new Client(base, 'SECRET-bad-token').get('/notes')).status).toBe(401);

      await eventsDelivered(app, 'note.created');
      await database.query('ALTER TABLE note_revisions RENAME TO elsewhere');
      const broken = await client.post(
        '/notes',
        { title: 'SECRET-title-2' },
        { headers: { 'x-request-id': 'the-broken-one' } },
      );
      await database.query('ALTER TABLE elsewhere RENAME TO note_revisions');
      expect([broken.status, broken.body]).toEqual([
        500,
        { error: 'internal_error', message: 'An internal error occurred.' },
      ]);
      expect(broken.headers.get('x-request-id')).toBe('the-broken-one');

      const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      expect(metrics).toContain(
        'http_request_duration_seconds_count{process="worker-1",method="GET",route="/apis/v1/notes/:id",status="200"} 1',
      );
      expect(metrics).toContain(
        'http_request_duration_seconds_count{process="worker-1",method="POST",route="/apis/v1/notes",status="500"} 1',
      );
      for (const name of [
        'database_pool_connections{process="worker-1",cell="main",use="any",state="idle"}',
        'database_round_trips_total',
        'nodejs_eventloop_lag_seconds',
      ])
        expect(metrics).toContain(name);
      expect(metrics).not.toContain(id);
      expect(metrics).not.toContain('SECRET');
      expect((await fetch(`http://127.0.0.1:${metricsPort}/`)).status).toBe(404);
      expect((await client.request('GET', '//metrics')).status).toBe(404);

      // A write without its body is in flight when the process receives SIGTERM.
      const change = JSON.stringify({ title: 'in flight', base_revision: 1 });
      const slow = new SlowRequest(client, 'PATCH', `/notes/${id}`, {
        'content-type': 'application/json',
        'content-length': change.length,
        expect: '100-continue',
      });
      await slow.accepted;
      server.child.kill('SIGTERM');
      await until('new connections to be rejected', () =>
        client.get('/health/live').then(
          () => false as const,
          () => true,
        ),
      );
      await slow.write(change);
      slow.end();
      const finished = await slow.response;
      expect([finished.status, finished.body.note.title]).toEqual([200, 'in flight']);
      expect(await server.exit).toBe(0);

      const lines = server
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
      const requests = lines.filter(({ msg }) => msg === 'request');
      expect(requests).toContainEqual(
        expect.objectContaining({
          method: 'GET',
          path: `/apis/v1/notes/${id}`,
          route: '/apis/v1/notes/:id',
          status: 200,
          request_id: expect.any(String),
        }),
      );
      expect(lines).toContainEqual(
        expect.objectContaining({
          level: 50,
          request_id: 'the-broken-one',
          err: expect.objectContaining({ code: '42P01' }),
        }),
      );
      const access = lines.filter(({ log }) => log === 'access');
      const members = { tenant_id: alice.tenantId, user_id: alice.id };
      for (const fields of [
        { ...members, method: 'GET', route: '/apis/v1/notes/:id', status: 200 },
        { ...members, method: 'POST', route: '/apis/v1/notes', status: 500, request_id: 'the-broken-one' },
        { tenant_id: null, user_id: null, method: 'GET', route: '/apis/v1/notes', status: 401 },
      ])
        expect(access).toContainEqual(expect.objectContaining(fields));
      for (const { bytes, duration_ms } of access) {
        expect(bytes).toBeGreaterThan(0);
        expect(duration_ms).toBeGreaterThan(0);
      }
      expect(JSON.stringify(access)).not.toContain(id);
      const text = lines.map((line) => JSON.stringify(line)).join('\n');
      expect(text).not.toContain('SECRET');
      for (const token of [alice.token, demo]) expect(text).not.toContain(token.split('.')[2]);
    } finally {
      server.child.kill('SIGKILL');
      await server.exit;
    }
  });

  test('the logger hides secrets in all usual fields', async () => {
    const token = alice.token;
    const script = `
      const { createLogger, PinoLoggerService } = await import(${JSON.stringify(path.join(ROOT, 'dist/platform/observability/logger.js'))});
      const log = createLogger('trace'), nest = new PinoLoggerService(log);
      const secret = 'SECRET', token = ${JSON.stringify(token)};
      log.info({ password: secret, a: { token: secret, b: { authorization: secret } }, headers: { authorization: 'Bearer ' + token, cookie: secret }, body: { x: secret } }, 'one');
      log.trace('Authorization: Bearer ' + token + ' and ' + token);
      const error = Object.assign(new Error('bad token ' + token + ' at postgres://user:SECRET@host/db'), { parameters: [secret], detail: secret, query: secret, code: 'X1' });
      nest.error(error, 'Context');
      nest.warn({ err: error, content: secret }, 'two', 'Context');
      nest.error({ err: { password: secret } }, 'three', 'Context');
      nest.log('plain', 'Context');`;
    const logging = start(['--input-type=module', '-e', script], {});
    expect(await logging.exit).toBe(0);
    const text = logging.output();
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toMatchObject({ level: 30, msg: 'plain', context: 'Context' });
    expect(lines[2].err).toMatchObject({
      code: 'X1',
      message: expect.stringContaining('[redacted]'),
      stack: expect.any(String),
    });
    expect(text).not.toContain('SECRET');
    expect(text).not.toContain(token.split('.')[2]);
  });

  test('readiness is 503 while the process stops; liveness stays 200', async () => {
    const lifecycle = app.get<Lifecycle>(Lifecycle);
    const states = async () => [
      (await app.anonymous.get('/health/live')).status,
      (await app.anonymous.get('/health/ready')).status,
    ];
    expect(await states()).toEqual([200, 200]);
    lifecycle.markDraining();
    const { body, headers } = await app.anonymous.get('/health/ready');
    expect([body.error, headers.get('retry-after')]).toEqual(['not_ready', '1']);
    expect(await states()).toEqual([200, 503]);
    lifecycle.markServing();
    expect(await states()).toEqual([200, 200]);
  });
});
