import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createBackup } from '../../../src/backup/create-backup.js';
import { formatManifest, parseManifest } from '../../../src/backup/store/manifest.js';
import { restoreBackup } from '../../../src/backup/restore-backup.js';
import { verifyBackup } from '../../../src/backup/verify-backup.js';
import { objectName } from '../../../src/platform/blobs/store/blob-store.js';
import { TestApp } from '../../support/app.ts';
import {
  atFirst,
  BusyInstallation,
  configOf,
  Directories,
  onDatabase,
  silent,
} from '../../support/installation/backup.ts';
import { cloneDatabase, emptyDatabase, onServer } from '../../support/database/database.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';

describe('backups with faults', () => {
  const directories = new Directories();
  let installation: BusyInstallation;

  beforeAll(async () => {
    installation = await BusyInstallation.start(directories.make());
    // More files than a backup copies at the same time, so that an aborted backup has copied only some.
    for (let n = 0; n < 10; n += 1) await installation.attach(`file ${n}`);
  });
  afterAll(async () => {
    await installation?.stop();
    directories.remove();
  });

  describe('a backup that is aborted', () => {
    const aborted = directories.make();

    test('is reported, is no source of a restore, and is continued', async () => {
      const stop = new Error('stopped');
      let steps = 0;
      const afterThree = ({ phase }: { phase: string }): void => {
        if (phase === 'file' && (steps += 1) === 3) throw stop;
      };
      await expect(
        createBackup(installation.config, installation.url, { to: aborted }, afterThree),
      ).rejects.toBe(stop);
      const [left] = readdirSync(path.join(aborted, 'snapshots'));
      await expect(verifyBackup(aborted, undefined, silent)).rejects.toThrow(
        `The only backup here is incomplete (${left})`,
      );
      const empty = await emptyDatabase();
      await expect(
        restoreBackup(configOf(empty.url, directories.make()), empty.url, { from: aborted }, silent),
      ).rejects.toThrow('incomplete');
      await empty.drop();

      const second = await createBackup(installation.config, installation.url, { to: aborted }, silent);
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
      const id = await installation.attach('in two backups only');
      const first = await createBackup(installation.config, installation.url, { to: aborted }, silent);
      expect(first.files_copied).toBe(1);
      await installation.detach(id);
      const second = await createBackup(installation.config, installation.url, { to: aborted }, silent);
      expect([second.files_copied, second.files]).toEqual([0, first.files - 1]);
      const files = (): number =>
        readdirSync(path.join(aborted, 'files'), { recursive: true, withFileTypes: true }).filter((entry) =>
          entry.isFile(),
        ).length;
      expect(files()).toBe(first.files);
      const { removed, snapshot } = await createBackup(
        installation.config,
        installation.url,
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
    const other = directories.make();
    const attempt = atFirst('table', async () => {
      await expect(
        createBackup(installation.config, installation.url, { to: other }, silent),
      ).rejects.toThrow('Another backup of this installation is running.');
    });
    await createBackup(installation.config, installation.url, { to: directories.make() }, attempt);
    expect(readdirSync(other)).toEqual([]);
  });

  test('a destination that fails during a table fails the backup', async () => {
    const to = directories.make();
    const folder = path.join(to, 'snapshots');
    const replace = atFirst('table', () => {
      const tables = path.join(folder, readdirSync(folder)[0]!, 'tables');
      rmSync(tables, { recursive: true });
      writeFileSync(tables, 'no directory');
    });
    await expect(createBackup(installation.config, installation.url, { to }, replace)).rejects.toThrow(
      'could not write',
    );
    expect((await createBackup(installation.config, installation.url, { to }, silent)).faults).toEqual([]);
  });

  test('files that the installation has lost or that changed are reported, and the rest is in the backup', async () => {
    const ids = [await installation.attach('lost'), await installation.attach('changed')];
    const [lost, changed] = await Promise.all(
      ids.map(async (id) => {
        const [row] = await installation.app.sql('SELECT blob_id FROM task_attachments WHERE id = $1', [id]);
        return objectName({ tenantId: installation.users[0]!.tenantId!, id: row.blob_id });
      }),
    );
    const fileOf = (name: string): string => path.join(installation.config.DATA_DIR, 'blobs', name);
    rmSync(fileOf(lost!));
    writeFileSync(fileOf(changed!), 'CHANGED');
    const to = directories.make();
    const { faults, files } = await createBackup(installation.config, installation.url, { to }, silent);
    expect(faults.toSorted((a, b) => a.reason.localeCompare(b.reason))).toEqual([
      { name: changed, reason: 'damaged' },
      { name: lost, reason: 'missing' },
    ]);
    expect(await verifyBackup(to, undefined, silent)).toMatchObject({ faults: [], files });
    writeFileSync(fileOf(lost!), 'lost');
    writeFileSync(fileOf(changed!), 'changed');
  });

  test('migrations during a backup make it fail', async () => {
    const to = directories.make();
    const migrate = atFirst('file', async () => {
      await installation.app.sql(`INSERT INTO schema_migrations (timestamp, name) VALUES (1, 'Later1')`);
    });
    await expect(createBackup(installation.config, installation.url, { to }, migrate)).rejects.toThrow(
      'was migrated during',
    );
    await installation.app.sql(`DELETE FROM schema_migrations WHERE name = 'Later1'`);
    await expect(verifyBackup(to, undefined, silent)).rejects.toThrow('incomplete');
  });

  describe('a complete backup', () => {
    let to: string;
    let snapshot: string;
    let empty: Awaited<ReturnType<typeof emptyDatabase>>;
    const restore = (options = {}, more = {}) =>
      restoreBackup(
        configOf(empty.url, directories.make(), more),
        empty.url,
        { from: to, ...options },
        silent,
      );
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
      to = directories.make();
      ({ snapshot } = await createBackup(installation.config, installation.url, { to }, silent));
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
      const place = directories.make();
      const keyed = configOf(installation.url, installation.config.DATA_DIR, {
        SECRET_KEYS: `${current},${old}`,
      });
      await createBackup(keyed, installation.url, { to: place }, silent);
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
      const used = restoreBackup(installation.config, installation.url, { from: to }, silent);
      await expect(used).rejects.toThrow('Servers use this database.');
      const clone = await cloneDatabase();
      const other = await TestApp.start({}, clone.url);
      await other.tenant('acme', 'ann');
      await other.stop();
      await expect(
        restoreBackup(configOf(clone.url, directories.make()), clone.url, { from: to }, silent),
      ).rejects.toThrow(/The installation is not empty: the table public\.\w+ has rows/);
      await clone.drop();
    });

    test('is not restored over content that a server writes during the restore', async () => {
      const clone = await cloneDatabase();
      const write = atFirst('file', async () => {
        await onDatabase(
          clone.url,
          `INSERT INTO accounts (id, email, email_key, display_name) VALUES (gen_random_uuid(), 'a', 'a', 'A')`,
        );
      });
      const config = configOf(clone.url, directories.make());
      await expect(restoreBackup(config, clone.url, { from: to }, write)).rejects.toThrow(
        'The installation is not empty: the table public.accounts has rows',
      );
      expect(await onDatabase(clone.url, 'SELECT email FROM accounts')).toEqual([{ email: 'a' }]);
      await clone.drop();
    });

    test('is restored into the database of a server that started without workspaces', async () => {
      const clone = await cloneDatabase();
      const dataDir = directories.make();
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
      const result = await restoreBackup(configOf(asRole, directories.make()), asRole, { from: to }, silent);
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
});
