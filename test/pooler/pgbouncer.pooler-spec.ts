import { checkDatabase } from '../../src/cli/doctor/database-checks.js';
import { Config } from '../../src/config/config.js';
import { Db } from '../../src/platform/database/db.js';
import { poolerOf } from '../../src/platform/database/connections/pooler.js';
import { either } from '../../src/platform/database/statement.js';
import { launch, started } from '../runtime/support/server.ts';
import { TestApp } from '../support/app.ts';
import { startServer, type TestServer } from '../support/database/standby.ts';
import { PgBouncer } from './pgbouncer.ts';

const limits = either.statement<{ statement: string; lock: string; idle: string }>(
  'test.limits',
  `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
          current_setting('idle_in_transaction_session_timeout') AS idle`,
);

describe('PgBouncer', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.stop());

  describe('in session mode', () => {
    let bouncer: PgBouncer;

    beforeAll(async () => {
      bouncer = await PgBouncer.start(server.url, 'session');
    });
    afterAll(() => bouncer?.stop());

    test('serves requests with the limits of sessions, and messages between processes', async () => {
      const app = await TestApp.start({}, bouncer.url);
      const direct = await TestApp.start({}, server.url);
      try {
        const [alice] = await app.tenant('acme', 'alice');
        const created = await Promise.all(
          Array.from({ length: 30 }, (_, n) => alice.api.post('/notes', { title: `n${n}` })),
        );
        expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]));
        const read = await alice.api.get(`/notes/${created[0]!.body.note.id}`);
        expect(read.status).toBe(200);
        expect(await app.get<Db>(Db).query(limits, [])).toEqual(await direct.get<Db>(Db).query(limits, []));
      } finally {
        await app.stop();
        await direct.stop();
      }
    });

    test('starts a whole server with its mail service; the doctor names the pooler', async () => {
      const running = await started(await launch({ DATABASE_URL: bouncer.url }));
      try {
        expect(await poolerOf(bouncer.url)).toBe('session');
        expect(await poolerOf(server.url)).toBe('none');
        const config = Config.parse({ LOG_LEVEL: 'silent', DATABASE_URL: bouncer.url });
        expect((await checkDatabase(config, bouncer.url)).map(({ message }) => message)).toContain(
          'A pooler in session mode is in front of the database.',
        );
      } finally {
        running.child.kill('SIGTERM');
        await running.exit;
      }
    });
  });

  test('in transaction mode: a start ends with the reason, and the doctor reports it', async () => {
    const bouncer = await PgBouncer.start(server.url, 'transaction');
    try {
      expect(await poolerOf(bouncer.url)).toBe('transaction');
      const running = await launch({ DATABASE_URL: bouncer.url });
      await running.exit;
      expect(running.stderr()).toContain('a pooler in transaction mode');
      const config = Config.parse({ LOG_LEVEL: 'silent', DATABASE_URL: bouncer.url });
      const findings = await checkDatabase(config, bouncer.url);
      expect(findings.find(({ message }) => message.includes('transaction mode'))?.status).toBe('error');
    } finally {
      await bouncer.stop();
    }
  });
});
