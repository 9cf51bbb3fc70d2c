import { rmSync } from 'node:fs';
import pg from 'pg';
import { checkCells, checkReplicas } from '../../../src/cli/doctor/database-checks.js';
import { Config } from '../../../src/config/config.js';
import { CellAdministration } from '../../../src/platform/cells/cell-administration.js';
import { Cells } from '../../../src/platform/cells/cells.js';
import { Db } from '../../../src/platform/database/db.js';
import { EmbeddedDatabase } from '../../../src/platform/database/embedded/embedded-database.js';
import { shareUndivided } from '../../../src/platform/database/connections/fair-pool.js';
import { Replicas } from '../../../src/platform/database/replicas/replicas.js';
import { runOn } from '../../../src/platform/database/run-on.js';
import { either } from '../../../src/platform/database/statement.js';
import { examineReplica } from '../../../src/platform/database/replicas/standby.js';
import { Metrics } from '../../../src/platform/observability/metrics.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { inDatabase } from '../../support/database/database.ts';
import {
  type Replication,
  replicasOf,
  setReplay,
  startReplication,
  usable,
} from '../../support/database/replication.ts';
import type { TestServer } from '../../support/database/standby.ts';
import { ok, published } from '../../support/domains/forms.ts';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { freePort } from '../../support/network/ports.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { until } from '../../support/until.ts';

/** The ids of the notes in the list of a user. */
async function listed(user: TestUser): Promise<string[]> {
  const { status, body } = await user.api.get('/notes?limit=100');
  expect(status).toBe(200);
  return body.notes.map(({ id }: { id: string }) => id);
}

const create = async (user: TestUser, title: string): Promise<string> => {
  const { status, body } = await user.api.post('/notes', { title });
  expect(status).toBe(201);
  return body.note.id;
};

/** Where a read of a scan runs. */
const server = either.statement<{ standby: boolean; database: string }>(
  'test.server',
  'SELECT pg_is_in_recovery() AS standby, current_database() AS database',
  { reach: 'cell' },
);

const readsOf = (app: TestApp): Record<string, number> => ({ ...app.get<Db>(Db).main.replicas!.reads });

/** Whether `read` ran on a replica: it may be behind for a moment. */
async function onReplica(app: TestApp, read: () => Promise<unknown>): Promise<boolean> {
  const before = readsOf(app)['replica'];
  await read();
  return readsOf(app)['replica'] !== before;
}

describe('read replicas', () => {
  let servers: Replication;

  beforeAll(async () => {
    servers = await startReplication({}, { recovery_min_apply_delay: '150ms' });
  });
  afterAll(() => servers?.stop());

  const start = (...urls: string[]): Promise<TestApp> =>
    TestApp.start({ DATABASE_REPLICA_URLS: urls.join(',') }, servers.primary.url);
  const streaming = (): TestServer => servers.standbys[0]!;
  const delayed = (): TestServer => servers.standbys[1]!;

  test('serve lists, searches and windows of all domains, without an error on them', async () => {
    const app = await start(streaming().url);
    try {
      const [alice] = await app.tenant('reading', 'alice');
      await usable(app.get(Db));
      const note = await create(alice, 'Minutes of Monday');
      const before = readsOf(app);
      const calendar = (await alice.api.get('/calendar')).body.calendars[0].id;
      const form = await published(alice);
      const definition = { columns: ['color'], group_by: 'color' };
      const { report } = ok(
        await alice.api.post(`/forms/${form.id}/reports`, { name: 'Colours', definition }),
        201,
      );
      const book = (await alice.api.get('/contact/useraddressbooks')).body.addressbooks[0].id;
      const paths = [
        '/notes',
        '/notes?sort=title&include=content',
        `/notes/${note}/revisions`,
        '/search/notes?q=minutes',
        '/tasks',
        '/search/tasks?q=minutes',
        `/calendar/${calendar}/instances?from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z`,
        `/calendar/${calendar}/export.ics`,
        '/search/calendar?q=minutes',
        `/contact/addressbooks/${book}/contacts`,
        '/contact/directory?q=al',
        '/directory/search?q=al',
        '/tenant/members',
        '/tenant/audit',
        '/notifications',
        '/forms',
        `/forms/${form.id}/analytics`,
        `/forms/${form.id}/report_snapshot?report_id=${report.id}`,
      ];
      for (const path of paths)
        await until(`${path} on the replica`, () =>
          onReplica(app, async () => expect([path, (await alice.api.get(path)).status]).toEqual([path, 200])),
        );
      expect(readsOf(app)['failed']).toBe(before['failed']);
    } finally {
      await app.stop();
    }
  });

  test('never miss a write, of the caller or of another user and process, while the replay is paused and afterwards', async () => {
    const [one, other] = await Promise.all([start(streaming().url), start(streaming().url)]);
    try {
      const [alice] = await one.tenant('pausing', 'alice');
      const device = { ...alice, api: other.as(alice.token) };
      const checkBoth = async (title: string): Promise<void> => {
        const id = await create(alice, title);
        expect(await listed(alice)).toContain(id);
        expect(await listed(device)).toContain(id);
      };
      await Promise.all([usable(one.get(Db)), usable(other.get(Db))]);
      await checkBoth('before');
      await setReplay(streaming(), false);
      for (let n = 0; n < 10; n += 1) await checkBoth(`paused ${n}`);
      await until('the lag', () => replicasOf(one.get(Db))[0]!.state === 'behind');
      await setReplay(streaming(), true);
      await until('use', () => onReplica(one, () => checkBoth('resumed')));
    } finally {
      await setReplay(streaming(), true);
      await Promise.all([one.stop(), other.stop()]);
    }
  });

  test('never miss a write while one of them lags and many callers write', async () => {
    const app = await start(streaming().url, delayed().url);
    try {
      const users = await app.tenant('lagging', 'alice', 'bob', 'carol', 'dave');
      await usable(app.get(Db));
      await Promise.all(
        users.map(async (user) => {
          for (let n = 0; n < 25; n += 1) {
            const id = await create(user, `note ${n}`);
            const [first] = await listed(user);
            expect(first).toBe(id);
            const [{ revision }] = (await user.api.get('/notes?limit=1')).body.notes;
            const change = { title: `changed ${n}`, base_revision: revision };
            const revised = await user.api.patch(`/notes/${id}`, change);
            expect(revised.status).toBe(200);
            const { body } = await user.api.get('/notes?limit=1');
            expect(body.notes[0]).toMatchObject({ id, revision: 2, title: `changed ${n}` });
          }
        }),
      );
      await until('use', () => onReplica(app, () => listed(users[0])));
      // A page of the replica and the next one of the primary follow each other.
      await setReplay(streaming(), true);
      const [alice] = users;
      const pages: Awaited<ReturnType<typeof alice.api.get>>[] = [];
      await until('a page of the replica', () =>
        onReplica(app, async () =>
          pages.push(await alice.api.get('/notes?limit=10&sort=created_at&order=asc')),
        ),
      );
      const first = pages.at(-1)!;
      await setReplay(streaming(), false);
      await create(alice, 'last');
      const second = await alice.api.get(
        `/notes?limit=100&sort=created_at&order=asc&cursor=${first.body.next}`,
      );
      const titles = [...first.body.notes, ...second.body.notes].map(({ title }) => title);
      expect(titles).toEqual([...Array.from({ length: 25 }, (_, n) => `changed ${n}`), 'last']);
    } finally {
      await setReplay(streaming(), true);
      await app.stop();
    }
  });

  test('are described by metrics and by workspace doctor', async () => {
    const port = await freePort();
    const urls = [streaming().url, `postgres://postgres@127.0.0.1:${port}/workspace`];
    const app = await TestApp.start(
      { DATABASE_REPLICA_URLS: urls.join(','), METRICS_PORT: String(port) },
      servers.primary.url,
    );
    const primary = new pg.Client(servers.primary.url);
    await primary.connect();
    try {
      const [alice] = await app.tenant('measuring', 'alice');
      await until('use', () => onReplica(app, () => listed(alice)));
      const { process } = await app.get<Metrics>(Metrics).read({ installation: false });
      const values = (name: string): Record<string, number> =>
        Object.fromEntries(
          process
            .find((metric) => metric.name === name)!
            .values.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
        );
      const [one, other] = replicasOf(app.get(Db)).map(({ name }) => name);
      expect(values('database_replica_state')).toMatchObject({
        [`main ${one} usable`]: 1,
        [`main ${one} lost`]: 0,
        [`main ${one} primary`]: 0,
        [`main ${other} usable`]: 0,
        [`main ${other} lost`]: 1,
      });
      expect(values('database_replica_reads_total')['main replica']).toBeGreaterThan(0);
      expect(values('database_replica_behind_bytes')[`main ${one}`]).toBeGreaterThanOrEqual(0);
      expect(await checkReplicas([...urls, servers.primary.url], primary)).toEqual([
        expect.objectContaining({ status: 'ok', message: expect.stringContaining('follows it') }),
        expect.objectContaining({ status: 'warning', message: expect.stringContaining('ECONNREFUSED') }),
        expect.objectContaining({ status: 'ok', message: expect.stringContaining('is the primary now') }),
      ]);
    } finally {
      await primary.end();
      await app.stop();
    }
  });

  test('need no privileges beyond those of the application', async () => {
    await inDatabase(servers.primary.url, 'CREATE ROLE plain');
    const { lsn } = (await inDatabase(servers.primary.url, 'SELECT pg_current_wal_flush_lsn() AS lsn'))[0];
    await until('the replay', async () => {
      const rows = await inDatabase(streaming().url, 'SELECT pg_last_wal_replay_lsn() >= $1 AS done', [lsn]);
      return rows[0].done;
    });
    const [asRole, onStandby] = [servers.primary.url, streaming().url].map((server) => {
      const url = new URL(server);
      url.searchParams.set('options', '-c role=plain');
      return url.toString();
    }) as [string, string];
    const primary = new pg.Client(asRole);
    await primary.connect();
    try {
      expect(await examineReplica({ url: onStandby }, primary, 5_000)).toMatchObject({ follows: true });
    } finally {
      await primary.end();
      await inDatabase(servers.primary.url, 'DROP ROLE plain');
    }
  });

  test.each([
    [{ DATABASE_REPLICA_URLS: 'postgres://a/b' }, 'DATABASE_REPLICA_URLS needs DATABASE_URL'],
    [{ DATABASE_URL: 'postgres://a/b', DATABASE_REPLICA_URLS: 'http://a' }, 'must be a comma-separated list'],
    [
      { DATABASE_URL: 'postgres://a/b', DATABASE_REPLICA_URLS: 'postgres://a/b, c' },
      'must be a comma-separated list',
    ],
    [{ DATABASE_URL: 'postgres://a/b', DATABASE_REPLICA_URLS: 'postgres://a,c/b' }, 'must name one host'],
    [{ CELL_REPLICA_URLS: 'postgres://a/b' }, 'must be a comma-separated list of <cell>=<URL>'],
    [{ CELL_REPLICA_URLS: 'a=postgres://a/b,b=http://c' }, 'must be a comma-separated list of <cell>=<URL>'],
    [{ CELL_REPLICA_URLS: 'a=postgres://a,c/b' }, 'CELL_REPLICA_URLS must name one host'],
    [{ CELL_REPLICA_URLS: 'main=postgres://a/b' }, 'are in DATABASE_REPLICA_URLS'],
  ])('are checked at the start: %j', (settings, message) => {
    expect(() => Config.parse(settings)).toThrow(message);
  });

  test('may be listed with a comma at the end', () => {
    const config = Config.parse({
      DATABASE_URL: 'postgres://a/b',
      DATABASE_REPLICA_URLS: 'postgres://c/b, postgres://d/b,',
    });
    expect(config.replicaUrls).toEqual(['postgres://c/b', 'postgres://d/b']);
    const { cellReplicas } = Config.parse({
      CELL_REPLICA_URLS: 'a=postgres://c/b?x=y,z=1, a-2=postgres://d/b,',
    });
    expect(cellReplicas).toEqual([
      { name: 'a', url: 'postgres://c/b?x=y,z=1' },
      { name: 'a-2', url: 'postgres://d/b' },
    ]);
  });

  test.each(['10', '1'])('serve the workspaces of a cell with CELL_POOL_MAX=%s', async (pool) => {
    const [primary, standby] = [servers.primary.url, streaming().url].map((server) => {
      const url = new URL(server);
      url.pathname = `/cell_${pool}`;
      return url.toString();
    }) as [string, string];
    await inDatabase(servers.primary.url, `CREATE DATABASE cell_${pool}`);
    const name = `cell-${pool}`;
    const settings = {
      CELL_REPLICA_URLS: `${name}=${standby},other=${standby}`,
      CELL_POOL_MAX: pool,
      CELL_CONNECTIONS_MAX: pool,
      METRICS_PORT: '9',
    };
    const app = await TestApp.start(settings, servers.primary.url);
    const administration = app.get<CellAdministration>(CellAdministration);
    try {
      await administration.add(name, primary);
      await inDatabase(servers.primary.url, `UPDATE cells SET added_at = '-infinity'`);
      await administration.setState('main', 'draining');
      const [alice] = await app.tenant(`cell-${pool}`, 'alice');
      const { replicas } = await app.get<Cells>(Cells).cell(name);
      expect(app.get<Db>(Db).main.replicas).toBeUndefined();
      for (let n = 0; n < 10; n += 1) {
        const id = await create(alice, `note ${n}`);
        expect((await listed(alice))[0]).toBe(id);
      }
      await until('a list on the replica', async () => {
        await listed(alice);
        return replicas!.reads.replica > 0;
      });
      const found = await until('a scan on the replica', async () => {
        const [row] = await app.get<Db>(Db).scan(alice.tenantId!, (reader) => reader.query(server, []));
        return row!.standby && row;
      });
      expect(found.database).toBe(`cell_${pool}`);
      const { process } = await app.get<Metrics>(Metrics).read({ installation: false });
      const states = process.find((metric) => metric.name === 'database_replica_state')!.values;
      expect(states).toContainEqual(
        expect.objectContaining({
          labels: { cell: name, replica: replicas!.all[0]!.name, state: 'usable' },
        }),
      );
      const config = Config.parse({ DATABASE_URL: servers.primary.url, ...settings });
      const client = new pg.Client(servers.primary.url);
      await client.connect();
      const findings = await checkCells(config, servers.primary.url, client);
      await client.end();
      expect(findings.map(({ status, message }) => [status, message])).toEqual(
        expect.arrayContaining([
          ['warning', 'CELL_REPLICA_URLS names the cell "other", which does not exist.'],
          ['ok', expect.stringMatching(`Cell "${name}": The replica .* follows it`)],
        ]),
      );
      await administration.setState('main', 'open');
    } finally {
      await app.stop();
      await inDatabase(servers.primary.url, 'DELETE FROM workspace_cells; DELETE FROM account_cells');
      await inDatabase(servers.primary.url, `DELETE FROM cells WHERE name <> 'main'`);
      await inDatabase(servers.primary.url, `DROP DATABASE cell_${pool} WITH (FORCE)`);
    }
  });

  test('of a cell that nobody reads ask nothing of its primary', async () => {
    const primary = new pg.Client(servers.primary.url);
    await primary.connect();
    const started = [undefined, 'a'].map((cell) => {
      const asked: string[] = [];
      const replicas = new Replicas({
        urls: [streaming().url],
        cell,
        session: {},
        shares: shareUndivided(1),
        onPrimary: (statement) => {
          asked.push(statement.name);
          return runOn(primary, statement, []);
        },
      });
      replicas.start();
      return { replicas, asked };
    });
    const [main, cell] = started as [(typeof started)[0], (typeof started)[0]];
    try {
      await until('the replica of the cell', () => cell.replicas.all[0]!.isUsable);
      await until('four probes of the other one', () => main.asked.length === 5);
      expect(main.asked.filter((name) => name === 'replicas.identity')).toHaveLength(1);
      expect(cell.asked).toEqual(['replicas.position', 'replicas.identity']);
      expect(await cell.replicas.read(server, [])).toEqual([expect.objectContaining({ standby: true })]);
      await until('probes', () => cell.asked.length > 3);
    } finally {
      await Promise.all(started.map(({ replicas }) => replicas.close()));
      await primary.end();
    }
  }, 30_000);

  test('that are lost or silent in the middle of reads cost no error, and are used again afterwards', async () => {
    const proxy = await DatabaseProxy.start(streaming().url);
    const app = await start(proxy.url);
    try {
      const [alice] = await app.tenant('losing', 'alice');
      const id = await create(alice, 'kept');
      for (const lose of [() => proxy.cut(), async () => proxy.silence()]) {
        await usable(app.get(Db));
        const reads = (): Promise<string[]>[] => Array.from({ length: 30 }, () => listed(alice));
        const during = reads();
        const losing = lose();
        const results = await Promise.all([...during, ...reads()]);
        await losing;
        expect(results).toEqual(results.map(() => [id]));
        await until('the loss', () => replicasOf(app.get(Db))[0]!.state === 'lost');
        const before = readsOf(app);
        expect(await listed(alice)).toEqual([id]);
        expect(readsOf(app)['none']).toBeGreaterThan(before['none']!);
        await proxy.restore();
      }
      await usable(app.get(Db));
    } finally {
      await app.stop();
      await proxy.cut();
    }
  });

  test('are refused unless they are standbys of this database', async () => {
    const dataDir = memoryDirectory('workspace-foreign-');
    const quiet = (): void => undefined;
    const foreign = await EmbeddedDatabase.open({
      dataDir,
      role: 'server',
      log: { info: quiet, warn: quiet, error: quiet },
    });
    const otherDatabase = new URL(streaming().url);
    otherDatabase.pathname = '/postgres';
    const app = await start(foreign.url, otherDatabase.toString());
    try {
      const [alice] = await app.tenant('refusing', 'alice');
      await until('the refusals', () => replicasOf(app.get(Db)).every(({ state }) => state === 'refused'));
      expect(replicasOf(app.get(Db)).map(({ reason }) => reason)).toEqual([
        expect.stringContaining('it belongs to another installation of PostgreSQL'),
        'its database postgres is not that of DATABASE_URL',
      ]);
      const id = await create(alice, 'read');
      expect(await listed(alice)).toEqual([id]);
    } finally {
      await app.stop();
      await foreign.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe('a fail-over with read replicas', () => {
  test('ends the use of the promoted one, and of one that has the writes of the former primary', async () => {
    const servers = await startReplication({}, {});
    const { primary, standbys } = servers;
    const [promoted, left] = standbys as [TestServer, TestServer];
    try {
      const before = await TestApp.start(
        { DATABASE_REPLICA_URLS: `${promoted.url},${left.url}` },
        primary.url,
      );
      const [alice] = await before.tenant('promoting', 'alice');
      await Promise.all([usable(before.get(Db)), usable(before.get(Db), 1)]);
      const kept = await create(alice, 'on both');
      await until(
        'the replay',
        async () => (await inDatabase(promoted.url, `SELECT FROM notes`)).length === 1,
      );
      await inDatabase(promoted.url, 'SELECT pg_promote()');
      await until('the end of its use', async () => {
        await listed(alice);
        return replicasOf(before.get(Db))[0]!.state === 'refused';
      });
      // The former primary goes on for a moment: the other standby receives what the new primary lacks.
      for (let n = 0; n < 20; n += 1) await create(alice, `lost ${n}`);
      await until('the replay', async () => (await inDatabase(left.url, `SELECT FROM notes`)).length === 21);
      await before.stop();
      // All servers of the cluster, as an installation names them.
      const urls = [left.url, promoted.url, primary.url].join(',');
      const after = await TestApp.start({ DATABASE_REPLICA_URLS: urls }, promoted.url);
      try {
        const user = { ...alice, api: after.as(alice.token) };
        const states = (): string[] => replicasOf(after.get(Db)).map(({ state }) => state);
        await until('a probe', () => states().every((state) => state !== 'lost'));
        expect(states()).toEqual(['behind', 'primary', 'refused']);
        for (let n = 0; n < 5; n += 1) expect(await listed(user)).toEqual([kept]);
        expect(readsOf(after)['replica']).toBe(0);
      } finally {
        await after.stop();
      }
    } finally {
      await servers.stop();
    }
  });
});
