import { randomUUID } from 'node:crypto';
import { migrateDatabase } from '../../../src/app.prepare.js';
import { createBackup } from '../../../src/backup/create-backup.js';
import { restoreBackup } from '../../../src/backup/restore-backup.js';
import { createDemoWorkspace } from '../../../src/demo/demo-workspace.js';
import { DEMO_PASSWORD, DEMO_USERS } from '../../../src/demo/demo-client.js';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import type { MigrationClass } from '../../../src/platform/database/schema/schema-part.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { provision } from '../../../src/provision/provision.js';
import { schema } from '../../../src/schema.js';
import { TestApp } from '../../support/app.ts';
import {
  atFirst,
  BusyInstallation,
  configOf,
  Directories,
  objectsOf,
  onDatabase,
  silent,
} from '../../support/installation/backup.ts';
import { Client } from '../../support/network/client.ts';
import { cloneDatabase, emptyDatabase } from '../../support/database/database.ts';
import { everythingReadable } from '../../support/contract/everything-readable.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { upload } from '../../support/network/multipart.ts';
import { until } from '../../support/until.ts';

/** Reading these is recorded in the audit log, which other routes return. */
const writesAudit = (route: string): boolean => /\/audit\.csv$|\/forms\/.*export/.test(route);

const timeOf = (migration: MigrationClass): number => Number((new migration().name as string).slice(-13));

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

describe('a restored backup', () => {
  const directories = new Directories();
  const place = directories.make();
  /** Tokens of the users of the demo workspace. */
  const demo: string[] = [];
  let installation: BusyInstallation;

  beforeAll(async () => {
    installation = await BusyInstallation.start(directories.make());
    await createDemoWorkspace(installation.app.served.nest, { mail: true });
    const users = DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD }));
    const tenants = [{ slug: 'demo', users }];
    const made = await provision(installation.app.served.nest, { tenants }, true);
    demo.push(...made.users.map(({ token }) => token as string));
    // Effects that follow a write would otherwise happen in each installation by itself, with ids of its own.
    await installation.app.get<ChatNotifier>(ChatNotifier).run();
    await installation.app.get<OutboxWorker>(OutboxWorker).drain();
  });
  afterAll(async () => {
    await installation?.stop();
    directories.remove();
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
      deleted = await installation.attach('deleted while the backup runs');
      cursor = (await installation.users[0]!.api.get('/notes/changes')).body.cursor;
      writers = installation.users.map(({ api, email }) => new Writer(api, email));
      await Promise.all(writers.map((writer) => writer.reached(5)));
      before = writers.map(({ acknowledged }) => [...acknowledged]);
      const summary = await createBackup(
        installation.config,
        installation.url,
        { to: place },
        atFirst('table', async () => {
          await installation.detach(deleted);
          expect(await installation.app.get<BlobCollector>(BlobCollector).collect()).toBe(0);
        }),
      );
      expect(summary).toMatchObject({ faults: [], removed: [] });
      expect(summary.files).toBeGreaterThan(5);
      expect(summary.files_copied).toBe(summary.files);
      await Promise.all(writers.map((writer) => writer.reached(writer.acknowledged.length + 5)));
      await Promise.all(writers.map((writer) => writer.stop()));

      empty = await emptyDatabase();
      const dataDir = directories.make();
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
      expect(await installation.app.get<BlobCollector>(BlobCollector).collect()).toBe(1);
    });

    test('everything that each user can read is the same', async () => {
      for (const token of demo) {
        const [expected, found] = [
          await everythingReadable(installation.app.as(token), writesAudit),
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
        const api = restored.as(installation.users[n]!.token);
        const present: string[] = [];
        for (const id of acknowledged) if ((await api.get(`/notes/${id}`)).status === 200) present.push(id);
        expect(present).toEqual(acknowledged.slice(0, present.length));
        expect(present.length).toBeGreaterThanOrEqual(before[n]!.length);
        expect(present.length).toBeLessThan(acknowledged.length);
      }
    });

    test('cursors of change feeds expire, and clients start again', async () => {
      const api = restored.as(installation.users[0]!.token);
      expect(await api.get(`/notes/changes?cursor=${cursor}`)).toMatchObject({
        status: 410,
        body: { error: 'cursor_expired' },
      });
      expect((await api.get('/notes/changes')).status).toBe(200);
    });

    test('writes continue', async () => {
      const api = restored.as(installation.users[0]!.token);
      expect((await api.post('/notes', { title: 'after the restore' })).status).toBe(201);
      expect((await upload(api, `/tasks/${installation.task}/attachments`, Buffer.from('new'))).status).toBe(
        201,
      );
      const rows = await restored.sql(
        `SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled NOT IN ('O', 'A')`,
      );
      expect(rows).toEqual([]);
      await expect(restored.sql('UPDATE audit_log SET action = action')).rejects.toThrow('append-only');
    });
  });

  test('the restored schema is that of a new database', async () => {
    const empty = await emptyDatabase();
    await restoreBackup(configOf(empty.url, directories.make()), empty.url, { from: place }, silent);
    const other = await TestApp.start({}, empty.url);
    const objects = objectsOf(`'public', 'mail_service'`);
    expect(await other.sql(objects)).toEqual(await installation.app.sql(objects));
    await other.stop();
    await empty.drop();
  });

  test('a backup of an earlier version is restored and migrated', async () => {
    const old = await emptyDatabase();
    const oldConfig = configOf(old.url, directories.make());
    const newest = new Set(schema.migrations.toSorted((a, b) => timeOf(a) - timeOf(b)).slice(-12));
    const migrations = schema.migrations.filter((each) => !newest.has(each));
    await migrateDatabase(oldConfig, old.url, { ...schema, migrations, sql: [] });
    const secret = randomUUID();
    await onDatabase(
      old.url,
      `INSERT INTO platform_secrets (purpose, id, material) VALUES ('hmac', '${secret}', '\\x00112233')`,
    );
    await onDatabase(old.url, `INSERT INTO tenants (id, slug, name) VALUES ('${secret}', 'old', 'Old')`);
    const to = directories.make();
    await createBackup(oldConfig, old.url, { to }, silent);
    await old.drop();

    const empty = await emptyDatabase();
    await restoreBackup(configOf(empty.url, directories.make()), empty.url, { from: to }, silent);
    const restored = await TestApp.start({}, empty.url);
    expect(await restored.sql(`SELECT slug FROM tenants`)).toEqual([{ slug: 'old' }]);
    const objects = objectsOf(`'public'`);
    expect(await restored.sql(objects)).toEqual(await installation.app.sql(objects));
    await restored.stop();
    await empty.drop();

    const clone = await cloneDatabase();
    await expect(
      restoreBackup(configOf(clone.url, directories.make()), clone.url, { from: to }, silent),
    ).rejects.toThrow('Restore into a database without tables.');
    await clone.drop();
  });
});
