import pg from 'pg';
import { LateError, awaitWithin } from '../../../src/lib/turns/index.js';
import { runDuring, inWorkOf } from '../../../src/platform/current-work/current-work.js';
import { errorCode } from '../../../src/platform/database/database-errors.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { TestApp } from '../../support/app.ts';
import { inDatabase } from '../../support/database/database.ts';
import {
  type Replication,
  replicasOf,
  startReplication,
  usable,
} from '../../support/database/replication.ts';
import type { TestServer } from '../../support/database/standby.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { until } from '../../support/until.ts';

/** Holds a lock on `notes`, and takes long on a standby only. */
const slow = either.statement<{ standby: boolean }>(
  'test.slow_on_standby',
  `SELECT pg_is_in_recovery() AS standby
     FROM (SELECT count(*) FROM notes) held, pg_sleep(CASE WHEN pg_is_in_recovery() THEN 100 ELSE 0 END)`,
  { reach: 'cell', onReplica: true },
);
const quick = either.statement<{ standby: boolean }>(
  'test.quick_on_standby',
  'SELECT pg_is_in_recovery() AS standby',
  { reach: 'cell', onReplica: true },
);

const ON_PRIMARY = [{ standby: false }];

const SLOW = `pg_stat_activity WHERE state = 'active' AND query LIKE '%FROM notes) held%' AND pid <> pg_backend_pid()`;

const slowReads = (server: TestServer, count: number): Promise<unknown> =>
  until(
    `${count} slow reads`,
    async () => (await inDatabase(server.url, `SELECT FROM ${SLOW}`)).length === count,
  );

/** Ends the slow reads as their time limit does. */
const cancel = (server: TestServer): Promise<unknown> =>
  inDatabase(server.url, `SELECT pg_cancel_backend(pid) FROM ${SLOW}`);

const readsOf = (app: TestApp): Record<string, number> => ({ ...app.get<Db>(Db).main.replicas!.reads });

describe('faults of read replicas', () => {
  let servers: Replication;

  beforeAll(async () => {
    servers = await startReplication(
      { max_standby_streaming_delay: '0' },
      { recovery_min_apply_delay: '150ms' },
    );
  });
  afterAll(() => servers?.stop());

  const streaming = (): TestServer => servers.standbys[0]!;
  const delayed = (): TestServer => servers.standbys[1]!;
  const start = (settings: Record<string, string> = {}): Promise<TestApp> =>
    TestApp.start({ DATABASE_REPLICA_URLS: streaming().url, ...settings }, servers.primary.url);
  const read = (app: TestApp, statement = quick): Promise<{ standby: boolean }[]> =>
    app.get<Db>(Db).main.query(statement, []);
  const readsOnReplica = (app: TestApp): Promise<unknown> =>
    until('a read on the replica', async () => (await read(app))[0]!.standby);

  test('a statement at its time limit there does not run again on the primary', async () => {
    const app = await start();
    try {
      await readsOnReplica(app);
      const result = read(app, slow);
      const failure = result.catch(errorCode);
      await slowReads(streaming(), 1);
      await cancel(streaming());
      expect(await failure).toBe('57014');
      expect(replicasOf(app.get(Db))[0]!.state).toBe('usable');
      await readsOnReplica(app);
    } finally {
      await app.stop();
    }
  });

  test('a statement that the replay cancels runs on the primary', async () => {
    const app = await start();
    try {
      await readsOnReplica(app);
      const result = read(app, slow);
      await slowReads(streaming(), 1);
      await inDatabase(servers.primary.url, 'DO $$ BEGIN LOCK TABLE notes IN ACCESS EXCLUSIVE MODE; END $$');
      expect(await result).toEqual(ON_PRIMARY);
      await readsOnReplica(app);
    } finally {
      await app.stop();
    }
  });

  test('a prepared statement whose table changes runs again', async () => {
    const all = either.statement('test.changing', 'SELECT * FROM changing', {
      reach: 'cell',
      onReplica: true,
    });
    await inDatabase(servers.primary.url, 'CREATE TABLE changing (one int); INSERT INTO changing VALUES (1)');
    const app = await start();
    const { main } = app.get<Db>(Db);
    try {
      await usable(app.get(Db));
      await until(
        'the table',
        async () => (await main.query(all, [])).length === 1 && readsOf(app)['replica'] === 1,
      );
      await inDatabase(servers.primary.url, 'ALTER TABLE changing ADD two int DEFAULT 2');
      // One connection of the replica and one of the primary may have the former plan.
      for (let n = 0; n < 3; n += 1) await main.query(all, []).catch(() => undefined);
      await until('the column', async () => {
        const before = readsOf(app)['replica'];
        expect(await main.query(all, [])).toEqual([{ one: 1, two: 2 }]);
        return readsOf(app)['replica'] !== before;
      });
    } finally {
      await app.stop();
      await inDatabase(servers.primary.url, 'DROP TABLE changing');
    }
  });

  test('a server that accepts a connection and then is silent is probed again', async () => {
    const proxy = await DatabaseProxy.start(streaming().url);
    const held = proxy.hold('pg_control_system');
    const app = await start({ DATABASE_REPLICA_URLS: proxy.url });
    try {
      await held;
      await readsOnReplica(app);
    } finally {
      await app.stop();
      await proxy.cut();
    }
  }, 60_000);

  test('the end of the application does not wait for a silent server', async () => {
    const proxy = await DatabaseProxy.start(streaming().url);
    const held = proxy.hold('pg_control_system');
    const app = await start({ DATABASE_REPLICA_URLS: proxy.url });
    await held;
    await app.stop();
    await proxy.cut();
  }, 60_000);

  test.each(['goes on', 'is lost'])(
    'the end of the application moves a read to the primary when its replica %s',
    async (fault) => {
      const proxy = await DatabaseProxy.start(streaming().url);
      const app = await start({ DATABASE_REPLICA_URLS: proxy.url });
      try {
        await readsOnReplica(app);
        const work = { owner: { workspace: 'w', user: 'u' }, isLong: true, databaseBytes: 0 };
        const result = runDuring(work, () => read(app, slow));
        await slowReads(streaming(), 1);
        const closing = app.get<Db>(Db).main.replicas!.close();
        if (fault === 'is lost') await proxy.cut();
        await closing;
        expect(await result).toEqual(ON_PRIMARY);
        expect(await read(app)).toEqual(ON_PRIMARY);
      } finally {
        await app.stop();
        await proxy.cut();
        await cancel(streaming());
        await slowReads(streaming(), 0);
      }
    },
    50_000,
  );

  test('a silent primary delays a list by a second, not by the time limit of its connections', async () => {
    const proxy = await DatabaseProxy.start(servers.primary.url);
    const app = await TestApp.start({ DATABASE_REPLICA_URLS: streaming().url }, proxy.url);
    try {
      await readsOnReplica(app);
      const held = proxy.hold('replicas.position');
      const result = awaitWithin(15_000, read(app));
      await held;
      expect(await result).toEqual(ON_PRIMARY);
    } finally {
      await proxy.cut();
      await proxy.restore();
      await app.stop();
      await proxy.cut();
    }
  });

  test('the end of the connection of probes leaves the running reads alone', async () => {
    const app = await start();
    const probes = (): Promise<{ pid: number }[]> =>
      inDatabase(
        streaming().url,
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'workspace replica probe'`,
      );
    try {
      await readsOnReplica(app);
      const failure = read(app, slow).catch(errorCode);
      await slowReads(streaming(), 1);
      const [former] = await until('probes', async () => {
        const found = await probes();
        return found.length > 0 && found;
      });
      await inDatabase(streaming().url, 'SELECT pg_terminate_backend($1)', [former!.pid]);
      await until('another probe', async () => (await probes()).some(({ pid }) => pid !== former!.pid));
      await slowReads(streaming(), 1);
      await cancel(streaming());
      expect(await failure).toBe('57014');
    } finally {
      await app.stop();
    }
  });

  test('reads of one snapshot that the replay cancels run on the primary, all of them', async () => {
    const app = await start();
    try {
      await readsOnReplica(app);
      const seen: boolean[] = [];
      const result = app.get<Db>(Db).scan('', async (reader) => {
        for (const statement of [quick, slow]) seen.push((await reader.query(statement, []))[0]!.standby);
        return seen.length;
      });
      await slowReads(streaming(), 1);
      await inDatabase(servers.primary.url, 'DO $$ BEGIN LOCK TABLE notes IN ACCESS EXCLUSIVE MODE; END $$');
      expect(await result).toBe(3);
      expect(seen).toEqual([true, false, false]);
      // The connection of the cancelled transaction is usable.
      await readsOnReplica(app);
    } finally {
      await app.stop();
    }
  });

  test('an error of the caller between the reads of one snapshot is no failure of the replica', async () => {
    const app = await start();
    try {
      await readsOnReplica(app);
      const before = readsOf(app);
      let runs = 0;
      const result = app.get<Db>(Db).scan('', async (reader) => {
        runs += 1;
        await reader.query(quick, []);
        throw new TypeError('of the caller');
      });
      await expect(result).rejects.toThrow('of the caller');
      expect(runs).toBe(1);
      expect(readsOf(app)).toEqual({ ...before, replica: before['replica']! + 1 });
      await readsOnReplica(app);
    } finally {
      await app.stop();
    }
  });

  test('a statement at its time limit in a snapshot does not run again on the primary, also when the connection is lost then', async () => {
    const proxy = await DatabaseProxy.start(streaming().url);
    const app = await start({ DATABASE_REPLICA_URLS: proxy.url });
    try {
      await readsOnReplica(app);
      const failure = app
        .get<Db>(Db)
        .scan('', (reader) => reader.query(slow, []))
        .catch(errorCode);
      await slowReads(streaming(), 1);
      const held = proxy.hold('ROLLBACK');
      await cancel(streaming());
      await held;
      await proxy.cut();
      expect(await failure).toBe('57014');
    } finally {
      await app.stop();
      await proxy.cut();
    }
  });

  test('the reads of a scan see one state, whatever is committed in between', async () => {
    const count = either.statement<{ count: number; standby: boolean }>(
      'test.count_scanned',
      'SELECT count(*)::int, pg_is_in_recovery() AS standby FROM scanned',
      { reach: 'cell', onReplica: true },
    );
    await inDatabase(servers.primary.url, 'CREATE TABLE scanned (one int)');
    const app = await start();
    try {
      await readsOnReplica(app);
      const seen = await until('a scan on the replica', async () => {
        await inDatabase(servers.primary.url, 'TRUNCATE scanned');
        const rows = await app.get<Db>(Db).scan('', async (reader) => {
          const first = await reader.query(count, []);
          if (!first[0]!.standby) return first;
          await inDatabase(servers.primary.url, 'INSERT INTO scanned VALUES (1)');
          await until(
            'the row on the standby',
            async () => (await inDatabase(streaming().url, 'SELECT FROM scanned')).length === 1,
          );
          return [...first, ...(await reader.query(count, []))];
        });
        return rows.length === 2 && rows;
      });
      expect(seen.map((row) => row.count)).toEqual([0, 0]);
    } finally {
      await app.stop();
      await inDatabase(servers.primary.url, 'DROP TABLE scanned');
    }
  });

  test('a refused further connection leaves the running reads alone', async () => {
    await inDatabase(
      servers.primary.url,
      'CREATE ROLE limited LOGIN CONNECTION LIMIT 2; GRANT SELECT ON notes TO limited',
    );
    const url = new URL(streaming().url);
    url.username = 'limited';
    const app = await start({ DATABASE_REPLICA_URLS: url.toString() });
    try {
      await readsOnReplica(app);
      const running = read(app, slow);
      const failure = running.catch(errorCode);
      await slowReads(streaming(), 1);
      const before = readsOf(app);
      expect(await read(app)).toEqual(ON_PRIMARY);
      expect(readsOf(app)['busy']).toBe(before['busy']! + 1);
      expect(replicasOf(app.get(Db))[0]!.state).toBe('usable');
      await slowReads(streaming(), 1);
      await cancel(streaming());
      expect(await failure).toBe('57014');
      await readsOnReplica(app);
    } finally {
      await app.stop();
      await inDatabase(servers.primary.url, 'REVOKE ALL ON notes FROM limited; DROP ROLE limited');
    }
  });

  test('users and jobs have shares of the connections; the others run on the primary', async () => {
    const app = await start({ DATABASE_POOL_MAX: '10' });
    try {
      await readsOnReplica(app);
      const reads = [
        ...Array.from({ length: 6 }, () => inWorkOf({ workspace: 'w', user: 'u' }, () => read(app, slow))),
        ...Array.from({ length: 6 }, () => read(app, slow)),
      ].map((result) => result.catch(errorCode));
      // Half of the seven connections of requests, and the three of jobs.
      await slowReads(streaming(), 4 + 3);
      await until('a read of another user on the replica', () =>
        inWorkOf({ workspace: 'other', user: 'other' }, async () => (await read(app))[0]!.standby),
      );
      await cancel(streaming());
      const results = await Promise.all(reads);
      expect(results.filter((result) => result === '57014')).toHaveLength(7);
      expect(results.filter((result) => result !== '57014')).toEqual(
        Array.from({ length: 5 }, () => ON_PRIMARY),
      );
      expect(readsOf(app)['busy']).toBe(5);
    } finally {
      await app.stop();
    }
  });

  test('a read that one replica misses runs on the next one', async () => {
    const app = await start({ DATABASE_REPLICA_URLS: `${delayed().url},${streaming().url}` });
    try {
      await Promise.all([usable(app.get(Db)), usable(app.get(Db), 1)]);
      await until('a miss', async () => {
        if (!replicasOf(app.get(Db))[0]!.isUsable) return false;
        const before = readsOf(app);
        await inDatabase(servers.primary.url, 'SELECT pg_logical_emit_message(true, $1, $1)', ['test']);
        const results = [await read(app), await read(app)];
        const isMissed = replicasOf(app.get(Db))[0]!.state === 'behind';
        return (
          isMissed && results.every(([row]) => row!.standby) && readsOf(app)['behind'] === before['behind']
        );
      });
    } finally {
      await app.stop();
    }
  }, 60_000);

  test('a response that arrives while the event loop is blocked is in time', async () => {
    const client = new pg.Client(servers.primary.url);
    await client.connect();
    try {
      const response = awaitWithin(20, client.query('SELECT 1 AS one'));
      const end = performance.now() + 300;
      while (performance.now() < end);
      expect((await response).rows).toEqual([{ one: 1 }]);
      await expect(awaitWithin(20, client.query('SELECT pg_sleep(100)'))).rejects.toThrow(LateError);
    } finally {
      await client.end();
    }
  });
});
