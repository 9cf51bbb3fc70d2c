import { rmSync } from 'node:fs';
import { awaitWithin } from '../../../src/lib/turns/index.js';
import { DatabaseHosts } from '../../../src/platform/database/connections/database-hosts.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { asApiError } from '../../../src/platform/http/server/exception.filter.js';
import { TestApp } from '../../support/app.ts';
import { inDatabase } from '../../support/database/database.ts';
import { withTimeouts } from '../../support/database/timeouts.ts';
import { startServer, type TestServer } from '../../support/database/standby.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { until } from '../../support/until.ts';

/** What a transaction does after its connection has ended. */
type Step = 'manager' | 'statement' | 'commit';

const anything = either.statement<object>('', 'SELECT 1');
const pipelined = either.statement<object>('', 'SELECT 2', { pipelined: true });

/** Ends the connections of the application, as a server does that stops. */
const endConnections = (url: string): Promise<unknown> =>
  inDatabase(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

/** Of the hosts of both; the rest is that of the second one. */
function severalHosts(first: string, second: string): string {
  const [one, two] = [new URL(first), new URL(second)];
  return `${two.protocol}//${two.username}@${one.host},${two.host}${two.pathname}?target_session_attrs=read-write`;
}

describe('a fail-over', () => {
  let primary: TestServer;
  let standby: TestServer;

  beforeAll(async () => {
    [primary, standby] = await Promise.all([startServer(), startServer({ isStandby: true })]);
  });
  afterAll(() => Promise.all([primary?.stop(), standby?.stop()]));

  test('never reads from a standby that new connections are led to, and goes on with the primary afterwards', async () => {
    const proxy = await DatabaseProxy.start(primary.url);
    const app = await TestApp.start({}, proxy.url);
    try {
      const [alice] = await app.tenant('acme', 'alice');
      const { note } = (await alice.api.post('/notes', { title: 'before' })).body;
      proxy.switchTo(standby.url);
      await endConnections(primary.url);
      // Both pipelines and the pool open connections.
      const meanwhile = await Promise.all(
        Array.from({ length: 12 }, (_, n) => alice.api.get(n % 2 ? `/notes/${note.id}` : '/notes/changes')),
      );
      for (const { status, body, headers } of meanwhile)
        expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'database_unavailable', '1']);
      const ready = await alice.api.get('/health/ready');
      expect([ready.status, ready.body.error]).toEqual([503, 'not_ready']);
      proxy.switchTo(primary.url);
      await until('readiness', async () => (await alice.api.get('/health/ready')).status === 200);
      const written = await alice.api.post('/notes', { title: 'after' });
      expect(written.status).toBe(201);
      const reads = await Promise.all(
        Array.from({ length: 20 }, () => alice.api.get(`/notes/${written.body.note.id}`)),
      );
      expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
    } finally {
      await app.stop();
      await proxy.cut();
    }
  });

  test('with several hosts in DATABASE_URL finds the primary, at the start and after each change', async () => {
    const proxies = await Promise.all([DatabaseProxy.start(standby.url), DatabaseProxy.start(primary.url)]);
    const [first, second] = proxies;
    const url = severalHosts(first.url, second.url);
    const dataDir = memoryDirectory('workspace-hosts-');
    const app = await TestApp.start({ DATABASE_URL: url, DATA_DIR: dataDir }, url);
    try {
      const [bob] = await app.tenant('hosts', 'bob');
      expect((await bob.api.post('/notes', { title: 'first' })).status).toBe(201);
      // The hosts change their roles.
      first.switchTo(primary.url);
      second.switchTo(standby.url);
      await endConnections(primary.url);
      const created = await until('a write on the other host', async () => {
        const response = await bob.api.post('/notes', { title: 'second' });
        if (response.status === 201) return response;
        expect([response.status, response.body.error]).toEqual([503, 'database_unavailable']);
        return false;
      });
      expect((await bob.api.get(`/notes/${created.body.note.id}`)).status).toBe(200);
    } finally {
      await app.stop();
      await Promise.all(proxies.map((proxy) => proxy.cut()));
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('with several hosts in DATABASE_URL leaves a primary that has lost its network', async () => {
    const proxies = await Promise.all([DatabaseProxy.start(primary.url), DatabaseProxy.start(standby.url)]);
    const [lost, promoted] = proxies;
    const url = severalHosts(lost.url, promoted.url);
    const dataDir = memoryDirectory('workspace-silent-host-');
    // The limit of an attempt to open a connection is longer than this test: no connection may wait for the silent host.
    const app = await withTimeouts({ response: 1_000, connect: 60_000 }, () =>
      TestApp.start({ DATABASE_URL: url, DATA_DIR: dataDir }, url),
    );
    try {
      const { main } = app.get<Db>(Db);
      expect(await main.query(anything, [])).toHaveLength(1);
      lost.silence();
      promoted.switchTo(primary.url);
      await expect(main.query(anything, [])).rejects.toThrow('Query read timeout');
      expect(await awaitWithin(2_000, main.query(anything, []))).toHaveLength(1);
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.cut()));
      await app.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('with several hosts in DATABASE_URL leaves a primary that hangs long before the limit of its statements', async () => {
    const proxies = await Promise.all([DatabaseProxy.start(primary.url), DatabaseProxy.start(standby.url)]);
    const [hanging, promoted] = proxies;
    const url = severalHosts(hanging.url, promoted.url);
    const dataDir = memoryDirectory('workspace-hanging-host-');
    const app = await withTimeouts({ response: 30_000, connect: 60_000 }, () =>
      TestApp.start({ DATABASE_URL: url, DATA_DIR: dataDir }, url),
    );
    try {
      const { main } = app.get<Db>(Db);
      expect(await main.query(anything, [])).toHaveLength(1);
      hanging.silence();
      const pending = main.query(anything, []);
      promoted.switchTo(primary.url);
      await expect(pending).rejects.toThrow(/Connection terminated/);
      expect(await main.query(anything, [])).toHaveLength(1);
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.cut()));
      await app.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('with several hosts in DATABASE_URL fails at once while none of them is the primary', async () => {
    const proxies = await Promise.all([DatabaseProxy.start(primary.url), DatabaseProxy.start(standby.url)]);
    const [former, other] = proxies;
    const url = severalHosts(former.url, other.url);
    const dataDir = memoryDirectory('workspace-no-host-');
    const app = await withTimeouts({ response: 30_000, connect: 60_000 }, () =>
      TestApp.start({ DATABASE_URL: url, DATA_DIR: dataDir }, url),
    );
    try {
      const { main } = app.get<Db>(Db);
      expect(await main.query(anything, [])).toHaveLength(1);
      former.switchTo(standby.url);
      await endConnections(primary.url);
      // The first ones may fail with their connections.
      for (let round = 0; round < 4; round += 1) {
        const failures = await Promise.allSettled(
          Array.from({ length: 8 }, (_, n) => main.query(n % 2 ? anything : pipelined, [])),
        );
        for (const failure of failures) {
          expect(failure.status).toBe('rejected');
          expect(String((failure as PromiseRejectedResult).reason)).not.toContain('Query read timeout');
        }
      }
      former.switchTo(primary.url);
      expect(await main.query(pipelined, [])).toHaveLength(1);
    } finally {
      await Promise.all(proxies.map((proxy) => proxy.cut()));
      await app.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test('the failure of a connection to a former primary leaves the result of a later search alone', async () => {
    const proxy = await DatabaseProxy.start(primary.url);
    try {
      const hosts = DatabaseHosts.of(severalHosts(proxy.url, proxy.url));
      const former = await hosts.find();
      hosts.forget(former);
      const current = await hosts.find();
      hosts.forget(former);
      expect(await hosts.find()).toBe(current);
      hosts.forget(current);
      expect(await hosts.find()).not.toBe(current);
    } finally {
      await proxy.cut();
    }
  });

  test('a connection that ends inside a transaction is 503, at each of its steps', async () => {
    const app = await TestApp.start({}, primary.url);
    try {
      const db = app.get<Db>(Db);
      const endWithin = async (work: Step): Promise<unknown> =>
        db
          .tx(async (tx) => {
            const manager = await tx.managerOf(null);
            await endConnections(primary.url);
            await until('the end of the connection', () => manager.queryRunner?.isReleased === true);
            if (work === 'manager') await manager.query('SELECT 1');
            if (work === 'statement') await tx.query(anything, []);
          })
          .then(
            () => undefined,
            (error: unknown) => error,
          );
      for (const work of ['manager', 'statement', 'commit'] as const)
        expect(asApiError(await endWithin(work)).kind).toMatchObject({
          status: 503,
          code: 'database_unavailable',
        });
    } finally {
      await app.stop();
    }
  });

  test('a start on a standby names the reason', async () => {
    await expect(TestApp.start({}, standby.url)).rejects.toThrow('is a standby, which accepts no writes');
  });
});
