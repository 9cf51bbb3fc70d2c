import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createBackup } from '../../src/backup/create-backup.js';
import { restoreBackup } from '../../src/backup/restore-backup.js';
import { verifyBackup } from '../../src/backup/verify-backup.js';
import { parseBlobStoreUrl } from '../../src/config/store-urls.js';
import { Config } from '../../src/config/config.js';
import { openObjectStore } from '../../src/platform/blobs/store/blob-store.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { upload } from '../support/network/multipart.ts';
import { Swift } from './swift.ts';

const silent = (): void => undefined;

describe('a backup in S3', () => {
  let swift: Swift;
  let app: TestApp;
  let alice: TestUser;
  let target: string;
  let place: string;
  let config: Config;
  const before = { ...process.env };

  beforeAll(async () => {
    swift = await Swift.start();
    Object.assign(process.env, Swift.env);
    app = await TestApp.start({ BLOB_STORE_URL: swift.url });
    [alice] = await app.tenant('acme', 'alice');
    const { body } = await alice.api.post('/tasks', { title: 'Files' });
    target = `/tasks/${body.task.id}/attachments`;
    place = swift.url.replace('some/where', 'backups');
    config = Config.parse({ LOG_LEVEL: 'silent', DATABASE_URL: app.databaseUrl, BLOB_STORE_URL: swift.url });
  });
  afterAll(async () => {
    await app?.stop();
    await swift?.stop();
    process.env = before;
  });

  test('copies files from and to a bucket, continues, and is restored into a directory', async () => {
    const contents = [randomBytes(100), randomBytes(6 * 1024 * 1024), Buffer.alloc(0)];
    const ids: string[] = [];
    for (const content of contents) {
      const { body, status } = await upload(alice.api, target, content);
      expect(status).toBe(201);
      ids.push(body.attachment.id);
    }
    const stop = new Error('stopped');
    const afterFirst = ({ phase }: { phase: string }): void => {
      if (phase === 'file') throw stop;
    };
    await expect(createBackup(config, app.databaseUrl, { to: place }, afterFirst)).rejects.toBe(stop);
    await expect(verifyBackup(place, undefined, silent)).rejects.toThrow(
      'The only backup here is incomplete',
    );
    const summary = await createBackup(config, app.databaseUrl, { to: place }, silent);
    expect(summary).toMatchObject({ files: 3, faults: [] });
    expect(summary.files_copied).toBeLessThan(3);
    expect(await verifyBackup(place, undefined, silent)).toMatchObject({
      files: 3,
      faults: [],
      complete: [summary.snapshot],
      incomplete: [],
    });

    const empty = await emptyDatabase();
    const dataDir = memoryDirectory('backup-s3-');
    const local = Config.parse({ LOG_LEVEL: 'silent', DATABASE_URL: empty.url, DATA_DIR: dataDir });
    await restoreBackup(local, empty.url, { from: place }, silent);
    const restored = await TestApp.start({ DATA_DIR: dataDir }, empty.url);
    for (const [n, id] of ids.entries()) {
      const response = await fetch(`${restored.base}/apis/v1${target}/${id}`, {
        headers: { authorization: `Bearer ${alice.token}` },
      });
      expect(Buffer.from(await response.arrayBuffer()).equals(contents[n]!)).toBe(true);
    }
    await restored.stop();
    await empty.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('with another object under the name of a table is reported', async () => {
    const { snapshot } = await createBackup(config, app.databaseUrl, { to: place, keep: 1 }, silent);
    const objects = await openObjectStore(parseBlobStoreUrl(place));
    const name = `snapshots/${snapshot}/tables/public.tasks.copy.zst`;
    await objects.write(
      name,
      (async function* () {
        yield randomBytes(10);
      })(),
    );
    objects.close();
    expect(await verifyBackup(place, undefined, silent)).toMatchObject({
      faults: [{ name, reason: 'damaged' }],
      complete: [snapshot],
    });
  });
});
