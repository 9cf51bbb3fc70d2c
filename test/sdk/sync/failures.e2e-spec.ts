import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@workspace-backend/client';
import { WorkspaceSocket } from '@workspace-backend/client/sockets';
import { memoryStore, openWorkspace, StoreFullError } from '@workspace-backend/client/sync';
import { sqliteStore } from '@workspace-backend/client/sync/sqlite';
import { type TestUser, TestApp } from '../../support/app.ts';
import { childEnv } from '../../support/installation/child-env.ts';
import { BadProxy, type Fault } from '../../support/sdk/bad-proxy.ts';
import { Device, sqliteFile } from '../../support/sdk/device.ts';
import { until } from '../../support/until.ts';
import { Rng } from '../../sync/rng.ts';

const SAVER = path.resolve(import.meta.dirname, '..', '..', 'support', 'sdk', 'saver.ts');
const FAULTS: Fault[] = ['lose-request', 'lose-response', 'cut'];

/** What a program reports that it has saved. */
interface Saved {
  id: string;
  label?: string;
}

describe('failures of offline sync', () => {
  let app: TestApp;
  let alice: TestUser;
  let proxy: BadProxy | undefined;
  let number = 0;
  const directory = mkdtempSync(path.join(tmpdir(), 'workspace-sync-'));

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(async () => {
    await app?.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    [alice] = await app.tenant(`tenant-${(number += 1)}`, 'alice');
  });
  afterEach(() => proxy?.stop());

  const newFile = () => path.join(directory, `${number}-${Math.random()}.db`);
  const noteOf = async (id: string) => (await alice.api.get(`/notes/${id}`)).body.note;
  /** Each write of the note was executed once: the revision counts them. */
  const expectNoRepetition = async (id: string) => {
    const writes = proxy!.writes('PATCH', `/notes/${id}`).length;
    expect([id, (await noteOf(id)).revision]).toEqual([id, 1 + writes]);
  };

  test('an expired token is renewed, and a sign-out loses nothing', async () => {
    let current = alice.token;
    const asked: (string | undefined)[] = [];
    const token = (rejected?: string) => {
      asked.push(rejected);
      return rejected === undefined ? 'expired' : current;
    };
    const phone = await Device.open(app.base, alice, { token });
    const notes = phone.workspace.collection('notes');
    const id = await notes.create({ title: 'With a renewed token' });
    await phone.online();
    expect((await noteOf(id)).revision).toBe(1);
    expect(asked).toContain('expired');
    current = 'revoked';
    const later = await notes.create({ title: 'While signed out' });
    await expect(phone.online()).rejects.toThrow();
    expect(phone.workspace.state.phase).toBe('signed-out');
    expect(await phone.workspace.pending()).toMatchObject([{ id: later, problem: undefined }]);
    current = alice.token;
    await phone.online();
    expect((await noteOf(later)).title).toBe('While signed out');
    await phone.workspace.close();
  });

  test('a full store saves nothing more, and loses nothing that was saved before', async () => {
    const database = new DatabaseSync(newFile());
    const phone = await Device.open(app.base, alice, {
      store: sqliteStore(database),
      collections: ['notes'],
    });
    const notes = phone.workspace.collection('notes');
    const sentId = await notes.create({ title: 'Sent', content: '<p>kept</p>' });
    await phone.online();
    phone.offline();
    const savedId = await notes.create({ title: 'Saved before' });
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
    database.exec(`PRAGMA max_page_count = ${pages}`);
    const large = { content: `<p>${'x'.repeat(500_000)}</p>` };
    await expect(notes.create({ title: 'Too large', ...large })).rejects.toBeInstanceOf(StoreFullError);
    await expect(notes.update(sentId, large)).rejects.toBeInstanceOf(StoreFullError);
    expect((await notes.get(sentId))?.content).toBe('<p>kept</p>');
    expect((await notes.list()).map(({ title }) => title).toSorted()).toEqual(['Saved before', 'Sent']);
    expect(await phone.workspace.pending()).toMatchObject([{ id: savedId, problem: undefined }]);

    // What the service has does not fit either.
    const { id } = (await alice.api.post('/notes', { title: 'Of another client', ...large })).body.note;
    await expect(phone.online()).rejects.toThrow('The storage of this device is full.');
    expect(phone.workspace.state.phase).toBe('storage-full');
    database.exec('PRAGMA max_page_count = 1000000');
    await phone.online();
    expect((await noteOf(savedId)).title).toBe('Saved before');
    expect((await notes.get(id))?.content).toBe(large.content);
    expect(await phone.workspace.pending()).toEqual([]);
    await phone.workspace.close();
  });

  test('an earlier service, which rejects the header Prefer in batches, gets requests without it from then on', async () => {
    let rejected = 0;
    const earlier = async (request: Request): Promise<Response> => {
      const { requests = [] } = request.url.endsWith('/batch') ? ((await request.clone().json()) as any) : {};
      const details = requests.flatMap(({ headers }: any, n: number) =>
        headers?.Prefer ? [{ field: `requests.${n}.headers.Prefer`, code: 'is_in', message: '' }] : [],
      );
      if (details.length === 0) return fetch(request);
      rejected += 1;
      return Response.json({ error: 'validation_failed', message: '', details }, { status: 422 });
    };
    const client = createClient({ url: app.base, token: () => alice.token, fetch: earlier });
    const workspace = await openWorkspace({
      client,
      store: memoryStore(),
      user: alice.id,
      collections: ['notes'],
    });
    const notes = workspace.collection('notes');
    const id = await notes.create({ title: 'One' });
    await workspace.sync();
    await notes.update(id, { title: 'Two' });
    await workspace.sync();
    expect(await noteOf(id)).toMatchObject({ title: 'Two', revision: 2 });
    expect([rejected, await workspace.pending()]).toEqual([1, []]);
    await workspace.close();
  });

  test('the hints of a socket replace the poll', async () => {
    const client = createClient({ url: app.base, token: () => alice.token });
    const socket = new WorkspaceSocket(client);
    const phone = await Device.open(app.base, alice, { socket, collections: ['notes'] });
    socket.open();
    await until('the socket to connect', () => socket.state === 'connected');
    await phone.online();
    const { id } = (await alice.api.post('/notes', { title: 'Of another client' })).body.note;
    await until('the note', async () => (await phone.workspace.collection('notes').get(id)) !== undefined);
    await phone.workspace.close();
    socket.close();
  });

  test.each(['one', 'two', 'three'])(
    'two devices behind a network that delays, loses and cuts lose and repeat nothing (seed %s)',
    async (seed) => {
      const rng = new Rng(seed);
      let isBad = true;
      proxy = await BadProxy.start(app.base, () => ({
        fault: isBad && rng.chance(0.4) ? rng.pick(FAULTS) : 'none',
        delayMs: isBad ? rng.int(0, 15) : 0,
      }));
      const files = [newFile(), newFile()];
      const open = (n: number) =>
        Device.open(proxy!.base, alice, { store: sqliteFile(files[n]!), collections: ['notes'] });
      const devices = [await open(0), await open(1)];
      const saved: Saved[] = [];
      for (let step = 0; step < 60; step += 1) {
        const n = rng.int(0, 1);
        const { workspace } = devices[n]!;
        const notes = workspace.collection('notes');
        const what = rng.weighted({ create: 2, label: 6, sync: 3, reopen: 1 });
        if (what === 'create') saved.push({ id: await notes.create({ title: `note ${step}`, labels: [] }) });
        if (what === 'sync') await workspace.sync().catch(() => undefined);
        if (what === 'reopen') {
          await workspace.close();
          devices[n] = await open(n);
        }
        const items = what === 'label' ? await notes.list() : [];
        if (items.length === 0) continue;
        const { id, labels } = rng.pick(items);
        await notes.update(id, { labels: [...labels!, `label ${step}`] });
        saved.push({ id, label: `label ${step}` });
      }
      isBad = false;
      for (let round = 0; round < 3; round += 1) for (const device of devices) await device.online();
      const lists = await Promise.all(devices.map(({ workspace }) => workspace.collection('notes').list()));
      expect(lists[0]).toEqual(lists[1]);
      for (const { id, label } of saved)
        expect((await noteOf(id)).labels).toEqual(
          label === undefined ? expect.any(Array) : expect.arrayContaining([label]),
        );
      for (const { id } of lists[0]!) await expectNoRepetition(id);
      for (const { workspace } of devices) {
        expect(await workspace.pending()).toEqual([]);
        await workspace.close();
      }
    },
  );

  /** Runs the program, and kills it after a number of saves. @returns what it has saved */
  const runAndKill = async (file: string, run: number, saves: number): Promise<Saved[]> => {
    const settings = {
      SERVICE: proxy!.base,
      TOKEN: alice.token,
      STORE: file,
      USER_ID: alice.id,
      RUN: `${run}`,
    };
    const child = spawn(process.execPath, [SAVER], {
      env: { ...childEnv(), ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const gone = once(child, 'exit');
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const saved: Saved[] = [];
    for await (const line of createInterface(child.stdout)) {
      saved.push(JSON.parse(line) as Saved);
      if (saved.length === saves) child.kill('SIGKILL');
    }
    await gone;
    if (saved.length < saves) throw new Error(`the program has ended:\n${errors}`);
    return saved;
  };

  test('a process that is killed again and again loses nothing that was saved, and sends nothing twice', async () => {
    const rng = new Rng('killed');
    let writes = 0;
    // The service executes every second batch of writes, and the program that has sent it is killed before it gets the response.
    const faultOf = (_path: string, body: string): Fault => {
      if (!body.includes('"Idempotency-Key"')) return 'none';
      writes += 1;
      return writes % 2 === 1 ? 'hold' : 'none';
    };
    proxy = await BadProxy.start(app.base, (url, body) => ({ fault: faultOf(url, body) }));
    const file = newFile();
    const saved: Saved[] = [];
    for (let run = 0; run < 6; run += 1) saved.push(...(await runAndKill(file, run, rng.int(50, 150))));
    await proxy.stop();
    const { executed } = proxy;
    proxy = await BadProxy.start(app.base, () => ({ fault: 'none' }));
    proxy.executed.push(...executed);
    const phone = await Device.open(proxy.base, alice, { store: sqliteFile(file), collections: ['notes'] });
    const before = await phone.workspace.collection('notes').list();
    for (const { id } of saved) expect(before.map((note) => note.id)).toContain(id);
    await phone.online();
    expect(await phone.workspace.pending()).toEqual([]);
    // Some requests were repeated, with their keys.
    const keys = proxy.executed.map(({ headers }) => headers!['Idempotency-Key']);
    expect(new Set(keys).size).toBeLessThan(keys.length);
    const last = new Map(saved.map(({ id, label }) => [id, label]));
    for (const [id, label] of last) {
      if (label !== undefined) expect((await noteOf(id)).labels).toContain(label);
      await expectNoRepetition(id);
      expect(proxy.writes('POST', '/notes').filter(({ body }) => body!['id'] === id)).toHaveLength(1);
    }
    // What the device shows is what the service has.
    const { notes } = (await alice.api.get('/notes?limit=200')).body;
    const shown = await phone.workspace.collection('notes').list();
    expect(new Set(shown.map(({ id }) => id)).size).toBeGreaterThanOrEqual(notes.length);
    for (const { id, labels } of shown) expect((await noteOf(id)).labels).toEqual(labels);
    await phone.workspace.close();
  });
});
