import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { WorkspaceClient } from '@workspace-backend/client';
import {
  memoryStore,
  openWorkspace,
  type Row,
  type Store,
  StoreFullError,
} from '@workspace-backend/client/sync';
import { sqliteStore } from '@workspace-backend/client/sync/sqlite';

const directory = mkdtempSync(path.join(tmpdir(), 'workspace-stores-'));
let number = 0;
const newFile = () => path.join(directory, `${(number += 1)}.db`);
const STORES: [string, () => Store][] = [
  ['memory', memoryStore],
  ['SQLite', () => sqliteStore(new DatabaseSync(newFile()))],
];
const row = (id: string, place?: number): Row => ({ feed: 'notes', id, ...(place && { place, open: {} }) });

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.each(STORES)('a store in %s', (_name, newStore) => {
  let store: Store;
  beforeEach(() => {
    store = newStore();
  });
  afterEach(() => store.close());

  const write = (...rows: Row[]) =>
    store.transaction('write', async (tx) => {
      for (const one of rows) await tx.put(one);
    });
  const idsOf = (rows: Row[]) => rows.map(({ id }) => id).join('');

  test('returns rows by id and by place, in pages', async () => {
    await write(row('c', 1), row('a', 3), row('b'), row('d', 2), { feed: 'tasks', id: 'e' });
    await write(row('d', 4));
    await store.transaction('read', async (tx) => {
      expect(idsOf(await tx.rows('notes', '', 3))).toBe('abc');
      expect(idsOf(await tx.rows('notes', 'c', 3))).toBe('d');
      expect(idsOf(await tx.rows('notes', 'd', 3))).toBe('');
      expect(idsOf(await tx.pending(0, 2))).toBe('ca');
      expect(idsOf(await tx.pending(3, 2))).toBe('d');
      expect(await tx.get('notes', 'e')).toBeUndefined();
    });
  });

  test('stores nothing of a transaction that fails', async () => {
    await write(row('a', 1));
    const failing = store.transaction('write', async (tx) => {
      await tx.put(row('a', 7));
      await tx.put(row('b', 8));
      await tx.delete('notes', 'a');
      await tx.writeMeta('key', 'value');
      throw new Error('enough');
    });
    await expect(failing).rejects.toThrow('enough');
    await store.transaction('read', async (tx) => {
      expect(await tx.rows('notes', '', 9)).toEqual([row('a', 1)]);
      expect(await tx.pending(0, 9)).toEqual([row('a', 1)]);
      expect(await tx.readMeta('key')).toBeUndefined();
    });
  });

  test('shows changes within their transaction, and returns copies', async () => {
    await store.transaction('write', async (tx) => {
      expect(await tx.rows('notes', '', 9)).toEqual([]);
      await tx.put(row('a', 1));
      const [found] = await tx.rows('notes', '', 9);
      found!.id = 'changed';
      await tx.delete('notes', 'b');
      expect(idsOf(await tx.pending(0, 9))).toBe('a');
      await tx.writeMeta('key', { one: 1 });
      await tx.writeMeta('other', undefined);
      expect(await tx.readMeta('key')).toEqual({ one: 1 });
    });
  });

  test('belongs to one user', async () => {
    const client = { GET: () => Promise.reject(new TypeError('offline')) } as unknown as WorkspaceClient;
    const kept = { ...store, close: async () => undefined };
    const workspace = await openWorkspace({ client, store: kept, user: 'alice' });
    await workspace.close();
    await expect(openWorkspace({ client, store: kept, user: 'bob' })).rejects.toThrow('data of another user');
  });
});

describe('a store in SQLite', () => {
  test('has one process, and keeps its rows', async () => {
    const file = newFile();
    const store = sqliteStore(new DatabaseSync(file));
    await store.transaction('write', (tx) => tx.put(row('a', 1)));
    expect(() => sqliteStore(new DatabaseSync(file))).toThrow('database is locked');
    await store.close();
    const again = sqliteStore(new DatabaseSync(file));
    expect(await again.transaction('read', (tx) => tx.pending(0, 9))).toEqual([row('a', 1)]);
    await again.close();
  });

  test('opens a file of version 0.1.0, and keeps one row of each id in it', async () => {
    const file = newFile();
    const older = new DatabaseSync(file);
    older.exec(`CREATE TABLE workspace_rows (
      feed TEXT NOT NULL, id TEXT NOT NULL, place INTEGER, row TEXT NOT NULL, PRIMARY KEY (feed, id)
    ) WITHOUT ROWID, STRICT`);
    const insert = older.prepare('INSERT INTO workspace_rows VALUES (?, ?, ?, ?)');
    for (const one of [row('b', 1), row('a')])
      insert.run(one.feed, one.id, one.place ?? null, JSON.stringify(one));
    older.close();
    const store = sqliteStore(new DatabaseSync(file));
    await store.transaction('write', (tx) => tx.put(row('b', 2)));
    expect(await store.transaction('read', (tx) => tx.rows('notes', '', 9))).toEqual([row('a'), row('b', 2)]);
    expect(await store.transaction('read', (tx) => tx.pending(0, 9))).toEqual([row('b', 2)]);
    await store.close();
  });

  test('stores pages of the size of a feed without a transfer of its log for each of them', async () => {
    const file = newFile();
    const store = sqliteStore(new DatabaseSync(file));
    const size = statSync(file).size;
    const content = 'x'.repeat(6_000);
    for (let page = 0; page < 2; page += 1)
      await store.transaction('relaxed', async (tx) => {
        for (let n = 0; n < 500; n += 1) await tx.put({ ...row(`${page} ${n}`), server: { content } });
      });
    expect(statSync(file).size).toBe(size);
    await store.close();
    expect(statSync(file).size).toBeGreaterThan(6_000_000);
  });

  test('reports that it is full when it is created, and opens a full one', async () => {
    const none = new DatabaseSync(newFile());
    none.exec('PRAGMA max_page_count = 1');
    expect(() => sqliteStore(none)).toThrow(StoreFullError);

    const client = { GET: () => Promise.reject(new TypeError('offline')) } as unknown as WorkspaceClient;
    const file = newFile();
    const first = await openWorkspace({ client, user: 'alice', store: sqliteStore(new DatabaseSync(file)) });
    const id = await first.collection('notes').create({ title: 'Saved before' });
    await first.close();
    const store = sqliteStore(new DatabaseSync(file));
    const reject = () => Promise.reject(new StoreFullError('full'));
    const full: Store = {
      ...store,
      transaction: (mode, work) =>
        store.transaction(mode, (tx) => work({ ...tx, put: reject, writeMeta: reject })),
    };
    const again = await openWorkspace({ client, user: 'alice', store: full });
    expect((await again.collection('notes').get(id))!.title).toBe('Saved before');
    await again.close();
  });

  test('reports that it is full, and stays usable', async () => {
    const database = new DatabaseSync(newFile());
    const store = sqliteStore(database);
    database.exec('PRAGMA max_page_count = 20');
    const large = { ...row('a', 1), server: { content: 'x'.repeat(200_000) } };
    const writing = store.transaction('write', async (tx) => {
      await tx.put(row('b', 2));
      await tx.put(large);
    });
    await expect(writing).rejects.toBeInstanceOf(StoreFullError);
    await store.transaction('write', (tx) => tx.put(row('c', 3)));
    expect(await store.transaction('read', (tx) => tx.pending(0, 9))).toEqual([row('c', 3)]);
    await store.close();
  });
});
