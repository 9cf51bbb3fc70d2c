import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { migrateDatabase } from '../../../src/app.prepare.js';
import { createBackup } from '../../../src/backup/create-backup.js';
import { formatManifest, parseManifest } from '../../../src/backup/manifest.js';
import { restoreBackup } from '../../../src/backup/restore-backup.js';
import { verifyBackup } from '../../../src/backup/verify-backup.js';
import { Config } from '../../../src/config/config.js';
import { createDemoWorkspace } from '../../../src/demo/demo-workspace.js';
import { DEMO_PASSWORD, DEMO_USERS } from '../../../src/demo/demo-data.js';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import type { MigrationClass } from '../../../src/platform/database/schema-part.js';
import { provision } from '../../../src/provision/provision.js';
import { schema } from '../../../src/schema.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { Client } from '../../support/client.ts';
import { cloneDatabase, emptyDatabase, onServer } from '../../support/database.ts';
import { everythingReadable } from '../../support/everything-readable.ts';
import { TestMailService } from '../../support/mail-service.ts';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { upload } from '../../support/multipart.ts';
import { until } from '../../support/until.ts';

const silent = (): void => undefined;
/** Reading these is recorded in the audit log, which other routes return. */
const writesAudit = (route: string): boolean => /\/audit\.csv$|\/forms\/.*export/.test(route);

/** Constraints, indexes, triggers and functions. @param schemas names for SQL */
const objectsOf = (schemas: string): string => `
  SELECT conrelid::regclass::text AS of, conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
   WHERE connamespace::regnamespace::text IN (${schemas})
  UNION ALL SELECT indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid WHERE relnamespace::regnamespace::text IN (${schemas})
  UNION ALL SELECT tgrelid::regclass::text, tgname, tgenabled::text
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE NOT tgisinternal AND relnamespace::regnamespace::text IN (${schemas})
  UNION ALL SELECT '', oid::regprocedure::text, md5(prosrc) FROM pg_proc
   WHERE pronamespace::regnamespace::text IN (${schemas})
   ORDER BY 1, 2, 3`;

const timeOf = (migration: MigrationClass): number => Number((new migration().name as string).slice(-13));

async function onDatabase(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Writes one after the other, and records the acknowledged ones. */
class Writer {
  readonly acknowledged: string[] = [];
  private stopping = false;
  private readonly done: Promise<void>;

  constructor(
    private readonly api: Client,
    readonly name: string,
  ) {
    this.done = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.done;
  }

  reached = (count: number): Promise<true> =>
    until(`${count} writes of ${this.name}`, () => (this.acknowledged.length >= count ? true : undefined));

  private async run(): Promise<void> {
    for (let n = 0; !this.stopping; n += 1) {
      const { status, body } = await this.api.post('/notes', {
        title: `${this.name} ${n}`,
        content: '<p>x</p>',
      });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      this.acknowledged.push(body.note.id);
    }
  }
}

describe('backup and restore', () => {
  const directories: string[] = [];
  const directory = (): string => {
    const made = memoryDirectory('backup-test-');
    directories.push(made);
    return made;
  };
  let database: Awaited<ReturnType<typeof cloneDatabase>>;
  let mail: TestMailService;
  let app: TestApp;
  let config: Config;
  let demo: { email: string; token: string }[];
  let busy: TestUser[];
  let task: string;
  const place = directory();

  const configOf = (databaseUrl: string, dataDir: string, more: Record<string, string> = {}) =>
    Config.parse({ LOG_LEVEL: 'silent', DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...more });
  const attach = async (text: string): Promise<string> => {
    const { body, status } = await upload(busy[0]!.api, `/tasks/${task}/attachments`, Buffer.from(text));
    expect(status).toBe(201);
    return body.attachment.id;
  };
  /** Runs `work` at the first step of a phase. */
  const atFirst = (wanted: 'table' | 'file', work: () => Promise<void> | void) => {
    let done = false;
    return async ({ phase }: { phase: string }): Promise<void> => {
      if (done || phase !== wanted) return;
      done = true;
      await work();
    };
  };

  beforeAll(async () => {
    database = await cloneDatabase();
    const dataDir = directory();
    config = configOf(database.url, dataDir);
    mail = await TestMailService.start({ DATA_DIR: dataDir }, database.url);
    app = await TestApp.start({ ...mail.settings, DATA_DIR: dataDir }, database.url);
    await createDemoWorkspace(app.served.nest, { mail: true });
    const users = DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD }));
    const made = await provision(app.served.nest, { tenants: [{ slug: 'demo', users }] }, true);
    demo = made.users.map(({ email, token }) => ({ email, token: token as string }));
    busy = await app.tenant('busy', 'olga', 'pia', 'quinn');
    task = (await busy[0]!.api.post('/tasks', { title: 'Files' })).body.task.id;
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
    await database?.drop();
    for (const each of directories) rmSync(each, { recursive: true, force: true });
  });

  describe('beside writers', () => {
    let restored: TestApp;
    let restoredMail: TestMailService;
    let empty: Awaited<ReturnType<typeof emptyDatabase>>;
    let before: string[][];
    let writers: Writer[];
    let deleted: string;
    let cursor: string;

    beforeAll(async () => {
      deleted = await attach('deleted while the backup runs');
      cursor = (await busy[0]!.api.get('/notes/changes')).body.cursor;
      writers = busy.map(({ api, email }) => new Writer(api, email));
      await Promise.all(writers.map((writer) => writer.reached(5)));
      before = writers.map(({ acknowledged }) => [...acknowledged]);
      const summary = await createBackup(
        config,
        database.url,
        { to: place },
        atFirst('table', async () => {
          expect((await busy[0]!.api.delete(`/tasks/${task}/attachments/${deleted}`)).status).toBe(200);
          expect(await app.get<BlobCollector>(BlobCollector).collect()).toBe(0);
        }),
      );
      expect(summary).toMatchObject({ faults: [], removed: [] });
      expect(summary.files).toBeGreaterThan(5);
      expect(summary.files_copied).toBe(summary.files);
      await Promise.all(writers.map((writer) => writer.reached(writer.acknowledged.length + 5)));
      await Promise.all(writers.map((writer) => writer.stop()));

      empty = await emptyDatabase();
      const dataDir = directory();
      const result = await restoreBackup(configOf(empty.url, dataDir), empty.url, { from: place }, silent);
      expect(result).toMatchObject({ snapshot: summary.snapshot, rows: summary.rows, files: summary.files });
      restoredMail = await TestMailService.start({ DATA_DIR: dataDir }, empty.url);
      restored = await TestApp.start({ ...restoredMail.settings, DATA_DIR: dataDir }, empty.url);
    });
    afterAll(async () => {
      await restored?.stop();
      await restoredMail?.stop();
      await empty?.drop();
    });

    test('the collector removes the file after the backup', async () => {
      expect(await app.get<BlobCollector>(BlobCollector).collect()).toBe(1);
    });

    test('everything that each user can read is the same', async () => {
      for (const { token } of demo) {
        const [expected, found] = [
          await everythingReadable(app.as(token), writesAudit),
          await everythingReadable(restored.as(token), writesAudit),
        ];
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
        expect([...found.values()].filter(({ status }) => status === 200).length).toBeGreaterThan(120);
        expect([...found.keys()].filter((each) => /mailboxes\/\w+\/messages\/\d+/.test(each))).not.toEqual(
          [],
        );
      }
    });

    test('it has every write that was acknowledged before, and no later one without the earlier ones', async () => {
      for (const [n, { acknowledged }] of writers.entries()) {
        const api = restored.as(busy[n]!.token);
        const present: string[] = [];
        for (const id of acknowledged) if ((await api.get(`/notes/${id}`)).status === 200) present.push(id);
        expect(present).toEqual(acknowledged.slice(0, present.length));
        expect(present.length).toBeGreaterThanOrEqual(before[n]!.length);
        expect(present.length).toBeLessThan(acknowledged.length);
      }
    });

    test('cursors of change feeds expire, and clients start again', async () => {
      const api = restored.as(busy[0]!.token);
      expect(await api.get(`/notes/changes?cursor=${cursor}`)).toMatchObject({
        status: 410,
        body: { error: 'cursor_expired' },
      });
      expect((await api.get('/notes/changes')).status).toBe(200);
    });

    test('writes continue', async () => {
      const api = restored.as(busy[0]!.token);
      expect((await api.post('/notes', { title: 'after the restore' })).status).toBe(201);
      expect((await upload(api, `/tasks/${task}/attachments`, Buffer.from('new'))).status).toBe(201);
      const rows = await restored.sql(
        `SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled NOT IN ('O', 'A')`,
      );
      expect(rows).toEqual([]);
      await expect(restored.sql('UPDATE audit_log SET action = action')).rejects.toThrow('append-only');
    });
  });

  test('the restored schema is that of a new database', async () => {
    const empty = await emptyDatabase();
    await restoreBackup(configOf(empty.url, directory()), empty.url, { from: place }, silent);
    const other = await TestApp.start({}, empty.url);
    const objects = objectsOf(`'public', 'mail_service'`);
    expect(await other.sql(objects)).toEqual(await app.sql(objects));
    await other.stop();
    await empty.drop();
  });

  describe('a backup that is aborted', () => {
    const aborted = directory();

    test('is reported, is no source of a restore, and is continued', async () => {
      await attach('a');
      const stop = new Error('stopped');
      let steps = 0;
      const afterThree = ({ phase }: { phase: string }): void => {
        if (phase === 'file' && (steps += 1) === 3) throw stop;
      };
      await expect(createBackup(config, database.url, { to: aborted }, afterThree)).rejects.toBe(stop);
      const [left] = readdirSync(path.join(aborted, 'snapshots'));
      await expect(verifyBackup(aborted, undefined, silent)).rejects.toThrow(
        `The only backup here is incomplete (${left})`,
      );
      const empty = await emptyDatabase();
      await expect(
        restoreBackup(configOf(empty.url, directory()), empty.url, { from: aborted }, silent),
      ).rejects.toThrow('incomplete');
      await empty.drop();

      const second = await createBackup(config, database.url, { to: aborted }, silent);
      expect(second.files_copied).toBeLessThanOrEqual(second.files - 3);
      expect(second.files_copied).toBeGreaterThan(0);
      expect(await verifyBackup(aborted, undefined, silent)).toMatchObject({
        snapshot: second.snapshot,
        faults: [],
        complete: [second.snapshot],
        incomplete: [],
      });
    });

    test('a further backup copies new files only, and --keep removes old snapshots and their files', async () => {
      const id = await attach('in two backups only');
      const first = await createBackup(config, database.url, { to: aborted }, silent);
      expect(first.files_copied).toBe(1);
      expect((await busy[0]!.api.delete(`/tasks/${task}/attachments/${id}`)).status).toBe(200);
      const second = await createBackup(config, database.url, { to: aborted }, silent);
      expect([second.files_copied, second.files]).toEqual([0, first.files - 1]);
      const files = (): number =>
        readdirSync(path.join(aborted, 'files'), { recursive: true, withFileTypes: true }).filter((entry) =>
          entry.isFile(),
        ).length;
      expect(files()).toBe(first.files);
      const { removed, snapshot } = await createBackup(
        config,
        database.url,
        { to: aborted, keep: 2 },
        silent,
      );
      expect(removed).toHaveLength(2);
      expect(removed).toContain(first.snapshot);
      expect(files()).toBe(first.files - 1);
      expect(await verifyBackup(aborted, undefined, silent)).toMatchObject({
        faults: [],
        complete: [second.snapshot, snapshot],
      });
    });
  });

  test('while a backup runs, a second one is rejected', async () => {
    const other = directory();
    const attempt = atFirst('table', async () => {
      await expect(createBackup(config, database.url, { to: other }, silent)).rejects.toThrow(
        'Another backup of this installation is running.',
      );
    });
    await createBackup(config, database.url, { to: directory() }, attempt);
    expect(readdirSync(other)).toEqual([]);
  });

  test('migrations during a backup make it fail', async () => {
    const to = directory();
    const migrate = atFirst('file', async () => {
      await app.sql(`INSERT INTO schema_migrations (timestamp, name) VALUES (1, 'Later1')`);
    });
    await expect(createBackup(config, database.url, { to }, migrate)).rejects.toThrow('was migrated during');
    await app.sql(`DELETE FROM schema_migrations WHERE name = 'Later1'`);
    await expect(verifyBackup(to, undefined, silent)).rejects.toThrow('incomplete');
  });

  describe('a complete backup', () => {
    let to: string;
    let snapshot: string;
    let empty: Awaited<ReturnType<typeof emptyDatabase>>;
    const restore = (options = {}, more = {}) =>
      restoreBackup(configOf(empty.url, directory(), more), empty.url, { from: to, ...options }, silent);
    const folder = () => path.join(to, 'snapshots', snapshot);
    const aFile = (): string => {
      const entries = readdirSync(path.join(to, 'files'), { recursive: true, withFileTypes: true });
      const entry = entries.find((each) => each.isFile())!;
      return path.join(entry.parentPath, entry.name);
    };
    /** Runs `work` while one bit of a file is flipped. */
    const flipped = async (file: string, work: () => Promise<void>): Promise<void> => {
      const content = readFileSync(file);
      const changed = Buffer.from(content);
      changed[content.length >> 1]! ^= 1;
      writeFileSync(file, changed);
      await work();
      writeFileSync(file, content);
    };
    const tables = async (): Promise<number> => {
      const [row] = await onDatabase(
        empty.url,
        `SELECT count(*)::int AS tables FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
      );
      return row.tables;
    };

    beforeAll(async () => {
      to = directory();
      ({ snapshot } = await createBackup(config, database.url, { to }, silent));
      empty = await emptyDatabase();
    });
    afterAll(() => empty?.drop());

    test('with a flipped bit in a table is reported and not restored', async () => {
      await flipped(path.join(folder(), 'tables', 'public.notes.copy.zst'), async () => {
        const name = `snapshots/${snapshot}/tables/public.notes.copy.zst`;
        const { faults } = await verifyBackup(to, undefined, silent);
        expect(faults).toEqual([{ name, reason: 'damaged' }]);
        await expect(restore()).rejects.toThrow(`${name} is damaged`);
      });
      expect(await tables()).toBe(0);
    });

    test('with a flipped bit in the manifest is reported and not restored', async () => {
      await flipped(path.join(folder(), 'manifest.json'), async () => {
        await expect(verifyBackup(to, undefined, silent)).rejects.toThrow(
          'The manifest of the backup is damaged.',
        );
        await expect(restore()).rejects.toThrow('The manifest of the backup is damaged.');
      });
    });

    test('with a flipped bit in a file is reported; the restore needs a flag', async () => {
      const file = aFile();
      const name = path.relative(to, file);
      await flipped(file, async () => {
        const { faults } = await verifyBackup(to, undefined, silent);
        expect(faults).toEqual([{ name, reason: 'damaged' }]);
        await expect(restore()).rejects.toThrow(`${name} is damaged. Pass --allow-damaged-files`);
      });
      expect(await tables()).toBe(0);
    });

    test('without a table or a file is reported', async () => {
      const file = aFile();
      const table = path.join(folder(), 'tables', 'mail_service.messages.copy.zst');
      const contents = [file, table].map((each) => [each, readFileSync(each)] as const);
      for (const [each] of contents) rmSync(each);
      const { faults } = await verifyBackup(to, undefined, silent);
      expect(faults.map(({ name, reason }) => [path.join(to, name), reason])).toEqual([
        [table, 'missing'],
        [file, 'missing'],
      ]);
      for (const [each, content] of contents) writeFileSync(each, content);
    });

    test('is rejected by an earlier version, with the version to use', async () => {
      const manifest = path.join(folder(), 'manifest.json');
      const content = readFileSync(manifest, 'utf8');
      const parsed = parseManifest(content);
      const [first, ...rest] = parsed.schemas;
      const later = { ...first!, migrations: [...first!.migrations, 'Future1999999999999'] };
      writeFileSync(manifest, formatManifest({ ...parsed, version: '9.8.7', schemas: [later, ...rest] }));
      await expect(restore()).rejects.toThrow(
        /made by version 9\.8\.7 with the migration Future1999999999999/,
      );
      writeFileSync(manifest, formatManifest({ ...parsed, version: '9.8.7', format: 99 }));
      await expect(restore()).rejects.toThrow('Install version 9.8.7 or later.');
      writeFileSync(manifest, content);
    });

    test('needs the keys of SECRET_KEYS', async () => {
      const [old, current] = ['o'.repeat(32), 'c'.repeat(32)];
      const place = directory();
      const keyed = configOf(database.url, config.DATA_DIR, { SECRET_KEYS: `${current},${old}` });
      await createBackup(keyed, database.url, { to: place }, silent);
      await expect(restore({ from: place }, { SECRET_KEYS: current })).rejects.toThrow(
        /^SECRET_KEYS lacks keys of the backup, with the ids [0-9a-f]{8}\./,
      );
      expect(await tables()).toBe(0);
      const text = readFileSync(
        path.join(place, 'snapshots', readdirSync(path.join(place, 'snapshots'))[0]!, 'manifest.json'),
        'utf8',
      );
      expect(text).not.toMatch(/o{8}|c{8}/);
    });

    test('is not restored over content, beside servers, or over a later schema', async () => {
      const used = restoreBackup(config, database.url, { from: to }, silent);
      await expect(used).rejects.toThrow('Servers use this database.');
      const clone = await cloneDatabase();
      const other = await TestApp.start({}, clone.url);
      await other.tenant('acme', 'ann');
      await other.stop();
      await expect(
        restoreBackup(configOf(clone.url, directory()), clone.url, { from: to }, silent),
      ).rejects.toThrow(/The installation is not empty: the table public\.\w+ has rows/);
      await clone.drop();
    });

    test('is restored into the database of a server that started without workspaces', async () => {
      const clone = await cloneDatabase();
      const dataDir = directory();
      const idleMail = await TestMailService.start({ DATA_DIR: dataDir }, clone.url);
      const idle = await TestApp.start({ DATA_DIR: dataDir }, clone.url);
      await idle.stop();
      await idleMail.stop();
      const result = await restoreBackup(configOf(clone.url, dataDir), clone.url, { from: to }, silent);
      expect(result.snapshot).toBe(snapshot);
      await clone.drop();
    });

    test('is restored by a role that is no superuser', async () => {
      const role = `owner_${randomBytes(4).toString('hex')}`;
      const owned = await emptyDatabase();
      const url = new URL(owned.url);
      await onServer(`CREATE ROLE ${role} LOGIN NOSUPERUSER`);
      await onServer(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${role}`);
      url.username = role;
      const asRole = url.toString();
      const result = await restoreBackup(configOf(asRole, directory()), asRole, { from: to }, silent);
      expect(result.faults).toEqual([]);
      const [{ disabled }] = await onDatabase(
        owned.url,
        `SELECT count(*)::int AS disabled FROM pg_trigger WHERE tgenabled = 'D'`,
      );
      expect(disabled).toBe(0);
      await owned.drop();
      await onServer(`DROP ROLE ${role}`);
    });
  });

  test('a backup of an earlier version is restored and migrated', async () => {
    const old = await emptyDatabase();
    const oldConfig = configOf(old.url, directory());
    const newest = new Set(schema.migrations.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(-12));
    const migrations = schema.migrations.filter((each) => !newest.has(each));
    await migrateDatabase(oldConfig, old.url, { ...schema, migrations, sql: [] });
    const secret = randomUUID();
    await onDatabase(
      old.url,
      `INSERT INTO platform_secrets (purpose, id, material) VALUES ('hmac', '${secret}', '\\x00112233')`,
    );
    await onDatabase(old.url, `INSERT INTO tenants (id, slug, name) VALUES ('${secret}', 'old', 'Old')`);
    const to = directory();
    await createBackup(oldConfig, old.url, { to }, silent);
    await old.drop();

    const empty = await emptyDatabase();
    await restoreBackup(configOf(empty.url, directory()), empty.url, { from: to }, silent);
    const restored = await TestApp.start({}, empty.url);
    expect(await restored.sql(`SELECT slug FROM tenants`)).toEqual([{ slug: 'old' }]);
    const objects = objectsOf(`'public'`);
    expect(await restored.sql(objects)).toEqual(await app.sql(objects));
    await restored.stop();
    await empty.drop();

    const clone = await cloneDatabase();
    await expect(
      restoreBackup(configOf(clone.url, directory()), clone.url, { from: to }, silent),
    ).rejects.toThrow('Restore into a database without tables.');
    await clone.drop();
  });
});
