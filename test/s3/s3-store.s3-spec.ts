import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import { parseBlobStoreUrl } from '../../src/config/store-urls.js';
import { BlobCollector } from '../../src/platform/blobs/blob-collector.js';
import { objectName, openBlobStore } from '../../src/platform/blobs/store/blob-store.js';
import { BlobMissingError, BlobStoreError } from '../../src/platform/blobs/store/object-store.js';
import { Blobs } from '../../src/platform/blobs/blobs.js';
import { type TestUser, TestApp } from '../support/app.ts';
import { freePort } from '../support/network/ports.ts';
import { SlowRequest, form, upload } from '../support/network/multipart.ts';
import { until } from '../support/until.ts';
import { Swift } from './swift.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const MAX = 20 * 1024 * 1024;
/** More than one part of an upload, and no whole number of them. */
const SIZE = 12_000_001;

describe('files in S3', () => {
  let swift: Swift;
  let app: TestApp;
  let alice: TestUser;
  let task: string;
  const children = new Set<ChildProcess>();
  const before = { ...process.env };

  beforeAll(async () => {
    swift = await Swift.start();
    Object.assign(process.env, Swift.env);
    app = await TestApp.start({ BLOB_STORE_URL: swift.url });
    [alice] = await app.tenant('acme', 'alice');
    task = (await alice.api.post('/tasks', { title: 'Files' })).body.task.id;
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await app?.stop();
    await swift?.stop();
    process.env = before;
  });

  const target = () => `/tasks/${task}/attachments`;
  const attach = async (content: Buffer): Promise<{ id: string; name: string }> => {
    const { status, body } = await upload(alice.api, target(), content);
    expect({ status, body }).toMatchObject({ status: 201 });
    const [row] = await app.sql('SELECT blob_id FROM task_attachments WHERE id = $1', [body.attachment.id]);
    const name = `some/where/${objectName({ tenantId: alice.tenantId!, id: row.blob_id })}`;
    return { id: body.attachment.id, name };
  };
  const fetched = async (id: string, headers = {}) => {
    const response = await fetch(`${app.base}/apis/v1/tasks/${task}/attachments/${id}`, {
      headers: { authorization: `Bearer ${alice.token}`, ...headers },
    });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  /** Everything in the bucket, finished or not. */
  const contents = async () => [await swift.objects(), await swift.uploads()];
  const collect = async () => {
    await app.sql('UPDATE blobs SET due_at = now() - make_interval(secs => 1) WHERE due_at IS NOT NULL');
    await app.get(BlobCollector).collect();
  };

  test.each([0, 1, 5 * 1024 * 1024, SIZE, MAX])('%i bytes come back as they were', async (size) => {
    const content = randomBytes(size);
    const { id, name } = await attach(content);
    expect(await swift.objects()).toContain(name);
    expect(await swift.uploads()).toEqual([]);
    expect((await fetched(id)).bytes.equals(content)).toBe(true);
  });

  test('a range of a file can be read', async () => {
    const content = randomBytes(SIZE);
    const { id } = await attach(content);
    for (const [range, from, to] of [
      ['bytes=0-0', 0, 1],
      ['bytes=5242879-5242880', 5_242_879, 5_242_881],
      ['bytes=-7', SIZE - 7, SIZE],
      [`bytes=${SIZE - 1}-`, SIZE - 1, SIZE],
    ] as const) {
      const { status, bytes } = await fetched(id, { range });
      expect([range, status, bytes.equals(content.subarray(from, to))]).toEqual([range, 206, true]);
    }
    expect((await fetched(id, { range: `bytes=${SIZE}-` })).status).toBe(416);
  });

  test('a removed file is deleted from the bucket', async () => {
    const { id, name } = await attach(randomBytes(SIZE));
    expect((await alice.api.delete(`${target()}/${id}`)).status).toBe(200);
    await collect();
    expect(await swift.objects()).not.toContain(name);
  });

  test('a file one byte too large, and one whose client disconnects, leave nothing', async () => {
    const there = await contents();
    expect((await upload(alice.api, target(), Buffer.alloc(MAX + 1))).status).toBe(413);
    const { raw, headers } = form({ filename: 'a', content: randomBytes(MAX) });
    const request = new SlowRequest(alice.api, 'POST', target(), {
      ...headers,
      'content-length': raw.length,
    });
    await request.write(raw.subarray(0, SIZE));
    await until('the upload to have begun', async () => (await swift.uploads()).length > 0);
    request.abort();
    await until('the upload to be aborted', async () => (await swift.uploads()).length === 0);
    await until(
      'its row to go',
      async () => (await app.sql(`SELECT id FROM blobs WHERE state <> 'kept'`)).length === 0,
    );
    expect(await contents()).toEqual(there);
  });

  test('uploads of a killed process are removed', async () => {
    const there = await contents();
    const script = path.join(ROOT, 'test', 'support', 'installation', 'blob-put.mjs');
    const { PATH, HOME, TMPDIR } = process.env;
    const env = {
      PATH,
      HOME,
      TMPDIR,
      ...Swift.env,
      DATABASE_URL: app.databaseUrl,
      BLOB_STORE_URL: swift.url,
    };
    const child = spawn(process.execPath, [script, alice.tenantId!, '12'], {
      cwd: ROOT,
      env: { ...env, LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.add(child);
    await until('the upload to have begun', async () => (await swift.uploads()).length > 0);
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await closed;
    expect((await swift.uploads()).length).toBe(1);
    await collect();
    expect(await contents()).toEqual(there);
  });

  test('a failing source is distinguished from a failing store', async () => {
    const failure = new Error('the line was cut');
    const source = async function* () {
      yield randomBytes(6_000_000);
      throw failure;
    };
    const there = await contents();
    await expect(app.get(Blobs).put(alice.tenantId!, source(), { maxBytes: 1e9 })).rejects.toBe(failure);
    expect(await contents()).toEqual(there);
  });

  test('a store that cannot be reached, knows no such bucket, or rejects the credentials: 503', async () => {
    const elsewhere = `s3://files?endpoint=http://127.0.0.1:${await freePort()}`;
    const nowhere = `s3://no-such-bucket?endpoint=http://127.0.0.1:${swift.port}`;
    const key = { tenantId: randomUUID(), id: randomUUID() };
    const bytes = async function* () {
      yield randomBytes(10);
    };
    for (const url of [elsewhere, nowhere]) {
      const store = await openBlobStore(parseBlobStoreUrl(url));
      await expect(store.write(key, bytes())).rejects.toThrow(BlobStoreError);
      await expect(store.open(key)).rejects.toThrow(BlobStoreError);
      // A HEAD request gets the same response for a missing bucket as for a missing object.
      if (url === elsewhere) await expect(store.size(key)).rejects.toThrow(BlobStoreError);
      await expect(store.remove(key)).rejects.toThrow(BlobStoreError);
      await expect(store.check()).rejects.toThrow(BlobStoreError);
      store.close();
    }
    const store = await openBlobStore(parseBlobStoreUrl(swift.url));
    await store.check();
    await expect(store.open(key)).rejects.toThrow(BlobMissingError);
    expect(await store.size(key)).toBeUndefined();
    await store.remove(key);
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong';
    const rejected = await openBlobStore(parseBlobStoreUrl(swift.url));
    await expect(rejected.check()).rejects.toThrow(BlobStoreError);
    process.env['AWS_SECRET_ACCESS_KEY'] = Swift.env.AWS_SECRET_ACCESS_KEY;
    for (const each of [store, rejected]) each.close();
  });

  test('without the store requests for files get an error, and all others succeed', async () => {
    const other = await TestApp.start(
      { BLOB_STORE_URL: `s3://files?endpoint=http://127.0.0.1:${await freePort()}` },
      app.databaseUrl,
    );
    const api = other.as(alice.token);
    const response = await upload(api, target(), 'x');
    expect(response).toMatchObject({ status: 503, body: { error: 'blob_store_unavailable' } });
    expect(response.headers.get('retry-after')).toBe('5');
    expect((await api.get('/health/ready')).body).toMatchObject({ status: 'ok', blob_store: 'unavailable' });
    expect((await api.get('/notes')).status).toBe(200);
    await other.stop();
  });

  test('the hash that is remembered is that of the bytes', async () => {
    const content = randomBytes(SIZE);
    const { id } = await attach(content);
    const { attachments } = (await alice.api.get(target())).body;
    expect(attachments.find((each: { id: string }) => each.id === id).sha256).toBe(
      createHash('sha256').update(content).digest('hex'),
    );
  });
});
