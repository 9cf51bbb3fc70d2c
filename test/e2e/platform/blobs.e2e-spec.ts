import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { BlobStore, objectName } from '../../../src/platform/blobs/store/blob-store.js';
import { Blobs } from '../../../src/platform/blobs/blobs.js';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp } from '../../support/app.ts';
import { fakeOnly } from '../../support/clock.ts';
import { childEnv } from '../../support/installation/child-env.ts';
import { until } from '../../support/until.ts';
import { runs } from '../../support/property-runs.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** The bytes in pieces of random sizes, as they come from a network. */
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(Math.random() * 70_000);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

describe('the blobs', () => {
  let app: TestApp;
  let tenant: string;
  let blobs: Blobs;
  const children = new Set<ChildProcess>();

  beforeAll(async () => {
    app = await TestApp.start();
    blobs = app.get(Blobs);
  });
  beforeEach(() => {
    tenant = randomUUID();
  });
  const references = (...stored: { id: string }[]) =>
    stored.map(({ id }) => ({ tenant_id: tenant, blob_id: id }));
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await app?.stop();
  });

  /** Everything the store has of this test's workspace. */
  const files = (): string[] => {
    const directory = path.join(app.dataDir, 'blobs', tenant);
    if (!existsSync(directory)) return [];
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const rows = () =>
    app.sql<{ id: string; state: string; size: string | null; sha256: Buffer | null; content_type: string }>(
      'SELECT id, state, size, sha256, content_type FROM blobs WHERE tenant_id = $1 ORDER BY created_at',
      [tenant],
    );
  const put = (bytes: Buffer, options: { maxBytes?: number; headBytes?: number } = {}) =>
    blobs.put(tenant, pieces(bytes), { maxBytes: 1 << 30, ...options });
  const kept = async (bytes: Buffer) => {
    const blob = await put(bytes);
    await app.get(Db).tx((tx) => blobs.keep(tx, tenant, blob, 'text/plain'));
    return blob;
  };
  const read = async (id: string, range?: { start: number; end: number }) => {
    const { stream, size } = await blobs.open(tenant, id, range);
    const bytes = Buffer.concat(await stream.toArray());
    expect(size).toBe(bytes.length);
    return bytes;
  };
  /** Makes all blobs that wait for their removal due. */
  const age = () =>
    app.sql(
      'UPDATE blobs SET due_at = now() - make_interval(secs => 1) WHERE tenant_id = $1 AND due_at IS NOT NULL',
      [tenant],
    );
  const collect = () => app.get(BlobCollector).collect();

  test.each([0, 1, 65_536, 262_144, 3_000_001])('%i bytes come back as they were', async (size) => {
    const bytes = randomBytes(size);
    const blob = await put(bytes, { headBytes: 100 });
    expect(blob).toMatchObject({ size, sha256: sha256(bytes), head: bytes.subarray(0, 100) });
    expect(await rows()).toMatchObject([{ id: blob.id, state: 'pending' }]);
    await app.get(Db).tx((tx) => blobs.keep(tx, tenant, blob, 'image/png'));
    expect(await rows()).toEqual([
      { id: blob.id, state: 'kept', size: String(size), sha256: sha256(bytes), content_type: 'image/png' },
    ]);
    expect((await read(blob.id)).equals(bytes)).toBe(true);
    await age();
    await collect();
    expect((await read(blob.id)).equals(bytes)).toBe(true);
  });

  test('any range of the bytes can be read', async () => {
    const bytes = randomBytes(300_000);
    const { id } = await kept(bytes);
    const place = fc.nat(bytes.length - 1);
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        expect((await read(id, { start, end })).equals(bytes.subarray(start, end + 1))).toBe(true);
      }),
      { numRuns: runs(50) },
    );
  });

  test('the maximum number of bytes is accepted, one byte more leaves nothing', async () => {
    await put(randomBytes(100_000), { maxBytes: 100_000 });
    await expect(put(randomBytes(100_001), { maxBytes: 100_000 })).rejects.toMatchObject({
      kind: { status: 413, code: 'file_too_large' },
      extras: { body: { max_bytes: 100_000 } },
    });
    expect(await rows()).toHaveLength(1);
    expect(files()).toHaveLength(1);
  });

  test('a source that fails passes its own error on and leaves nothing', async () => {
    const failure = new Error('the line was cut');
    const source = async function* () {
      yield randomBytes(500_000);
      throw failure;
    };
    await expect(blobs.put(tenant, source(), { maxBytes: 1e9 })).rejects.toBe(failure);
    expect(await rows()).toEqual([]);
    expect(files()).toEqual([]);
  });

  test('blobs that are not kept are removed after an hour, released blobs at once', async () => {
    const [stays, released] = [await kept(randomBytes(10)), await kept(randomBytes(10))];
    const forgotten = await put(randomBytes(10));
    await app.get(Db).tx((tx) => blobs.release(tx, references(released, forgotten)));
    await collect();
    // Pending blobs belong to a request in flight.
    expect(files().sort()).toEqual([stays.id, forgotten.id].sort());
    const [{ seconds }] = await app.sql(
      `SELECT extract(epoch FROM due_at - created_at)::int AS seconds FROM blobs WHERE tenant_id = $1 AND state = 'pending'`,
      [tenant],
    );
    expect(seconds).toBe(3600);
    await age();
    await collect();
    expect(files()).toEqual([stays.id]);
    expect(await rows()).toMatchObject([{ id: stays.id }]);
    await expect(blobs.open(tenant, released.id)).rejects.toMatchObject({
      kind: { status: 503, code: 'blob_store_unavailable' },
    });
  });

  test('a blob that is written for more than an hour stays, and can be kept', async () => {
    const source = async function* () {
      yield randomBytes(10);
      await age();
      jest.advanceTimersByTime(1_200_000);
      await until('the renewal', async () => (await due()).length === 0);
      await collect();
      yield randomBytes(10);
    };
    const due = () => app.sql('SELECT FROM blobs WHERE tenant_id = $1 AND due_at <= now()', [tenant]);
    fakeOnly(['setInterval', 'clearInterval']);
    try {
      const blob = await blobs.put(tenant, source(), { maxBytes: 1_000 });
      await app.get(Db).tx((tx) => blobs.keep(tx, tenant, blob, 'text/plain'));
      expect(await read(blob.id)).toHaveLength(20);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a release that is rolled back changes nothing', async () => {
    const blob = await kept(randomBytes(10));
    const undo = new Error('no');
    const attempt = app.get(Db).tx(async (tx) => {
      await blobs.release(tx, references(blob));
      throw undo;
    });
    await expect(attempt).rejects.toBe(undo);
    await collect();
    expect(files()).toEqual([blob.id]);
  });

  test('a blob the collector has taken can no longer be kept', async () => {
    const blob = await put(randomBytes(10));
    await age();
    await collect();
    await expect(app.get(Db).tx((tx) => blobs.keep(tx, tenant, blob, 'text/plain'))).rejects.toMatchObject({
      kind: { code: 'blob_store_unavailable' },
    });
  });

  test('concurrent keeping and collecting: the blob stays, or keeping fails', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => put(randomBytes(100))));
    await age();
    const db = app.get(Db);
    const [outcomes] = await Promise.all([
      Promise.allSettled(made.map((blob) => db.tx((tx) => blobs.keep(tx, tenant, blob, 'text/plain')))),
      collect(),
      collect(),
    ]);
    const alive = made.filter((_, n) => outcomes[n]!.status === 'fulfilled').map(({ id }) => id);
    expect(files().sort()).toEqual(alive.sort());
    expect((await rows()).map(({ id }) => id).sort()).toEqual(alive.sort());
  });

  test('discarding removes a blob at once, but never a kept one', async () => {
    const blob = await put(randomBytes(10));
    await blobs.discard(tenant, blob);
    expect([await rows(), files()]).toEqual([[], []]);
    const other = await kept(randomBytes(10));
    await blobs.discard(tenant, other);
    expect(await read(other.id)).toHaveLength(10);
  });

  test('a store that fails: 503, and the collector finishes when it is back', async () => {
    const blob = await kept(randomBytes(10));
    const directory = path.join(app.dataDir, 'blobs');
    renameSync(directory, `${directory}.away`);
    writeFileSync(directory, 'in the way');
    try {
      const unavailable = { kind: { status: 503, code: 'blob_store_unavailable' } };
      await expect(put(randomBytes(10))).rejects.toMatchObject(unavailable);
      await expect(blobs.open(tenant, blob.id)).rejects.toMatchObject(unavailable);
      await expect(app.get(BlobStore).check()).rejects.toThrow('could not');
      expect((await app.anonymous.get('/health/ready')).body).toEqual({
        status: 'ok',
        blob_store: 'unavailable',
        database_storage: 'ok',
      });
      await app.get(Db).tx((tx) => blobs.release(tx, references(blob)));
      await collect();
      expect((await rows()).map(({ state }) => state).sort()).toEqual(['released', 'released']);
    } finally {
      renameSync(directory, `${directory}.gone`);
      renameSync(`${directory}.away`, directory);
    }
    await app.get(BlobStore).check();
    await age();
    await collect();
    expect([await rows(), files()]).toEqual([[], []]);
  });

  test('the collector removes the partial data of a killed process', async () => {
    const script = path.join(ROOT, 'test', 'support', 'installation', 'blob-put.mjs');
    const child = spawn(process.execPath, [script, tenant, '3'], {
      cwd: ROOT,
      env: { ...childEnv(), DATABASE_URL: app.databaseUrl, DATA_DIR: app.dataDir, LOG_LEVEL: 'silent' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.add(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await closed;
    const [left] = files();
    expect(left).toMatch(/\.unfinished$/);
    expect(await rows()).toMatchObject([{ state: 'pending' }]);
    await collect();
    expect(files()).toEqual([left]);
    await age();
    await Promise.all([collect(), collect()]);
    expect([await rows(), files()]).toEqual([[], []]);
  });

  test('the files are for the owner of the process only', async () => {
    const { id } = await kept(randomBytes(10));
    const file = path.join(app.dataDir, 'blobs', objectName({ tenantId: tenant, id }));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  test('a path is made of two UUIDs or not at all', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '..',
        '../../etc/passwd',
        '.',
        '',
        '/etc',
        'a\0b',
        `${randomUUID()}/..`,
        randomUUID().toUpperCase(),
      ),
    );
    fc.assert(
      fc.property(nasty, nasty, fc.uuid(), (tenantId, id, good) => {
        expect(() => objectName({ tenantId, id: good })).toThrow(RangeError);
        expect(() => objectName({ tenantId: good, id })).toThrow(RangeError);
        expect(objectName({ tenantId: good, id: good })).toMatch(/^[0-9a-f/-]+$/);
      }),
    );
  });
});
