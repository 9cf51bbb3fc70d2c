import { jest } from '@jest/globals';
import { TestApp, type TestUser } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { Bus } from '../../../src/platform/bus/bus.js';
import { HeadChanges, HeadWatch } from '../../../src/platform/sync/head-watch.js';
import { FeedRetention } from '../../../src/platform/sync/feed-retention.js';

describe('GET /sync/state', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const state = async (user: TestUser, query = ''): Promise<any> => {
    const { status, body } = await user.api.get(`/sync/state${query}`);
    expect(status).toBe(200);
    return body;
  };

  test('has every collection, at 0 for a user without items', async () => {
    const [carol] = await app.tenant('empty', 'carol');
    expect(await state(carol)).toEqual({
      head: 0,
      collections: { notes: 0, note_folders: 0, tasks: 0, task_folders: 0, contacts: 0, calendars: 0 },
      objects: { contacts: {}, calendars: {} },
      server_time: expect.stringMatching(/Z$/),
    });
  });

  test('the head of a collection passes that of the last page exactly when it has changes', async () => {
    const feeds: Record<string, string> = {
      notes: '/notes',
      note_folders: '/note_folders',
      tasks: '/tasks',
      task_folders: '/task_folders',
    };
    const pages: Record<string, any> = {};
    const poll = async (name: string) => {
      const cursor = pages[name] ? `?cursor=${pages[name].cursor}` : '';
      pages[name] = (await bob.api.get(`${feeds[name]}/changes${cursor}`)).body;
      return pages[name];
    };
    for (const name of Object.keys(feeds)) await poll(name);
    const changed = async () => {
      const { collections } = await state(bob);
      return Object.keys(feeds).filter((name) => collections[name] > pages[name].head);
    };
    expect(await changed()).toEqual([]);
    const { note } = (await alice.api.post('/notes', { title: 'shared' })).body;
    expect(await changed()).toEqual([]);
    await alice.api.put(`/notes/${note.id}/invited`, { invited: [bob.id] });
    expect(await changed()).toEqual(['notes']);
    await bob.api.post('/task_folders', { name: 'F' });
    await bob.api.post('/note_folders', { name: 'F' });
    expect((await changed()).toSorted()).toEqual(['note_folders', 'notes', 'task_folders']);
    for (const name of await changed()) await poll(name);
    expect(await changed()).toEqual([]);
    await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${note.id}/purge`);
    expect(await changed()).toEqual(['notes']);
    // The head stays when old removals are deleted.
    const { collections } = await state(bob);
    expect(await app.get(FeedRetention).forget(new Date(Date.now() + 60_000))).toBeGreaterThan(0);
    expect((await state(bob)).collections).toEqual(collections);
  });

  test('takes one query', async () => {
    // Handlers of earlier events run statements of their own.
    await app.get(OutboxWorker).drain();
    const statements: string[] = [];
    const db = app.get(Db);
    const query = jest.spyOn(db, 'query').mockImplementation((statement, values) => {
      statements.push(statement.name);
      return Db.prototype.query.call(db, statement, values);
    });
    const transaction = jest.spyOn(db, 'tx');
    await state(alice);
    query.mockRestore();
    // The outbox and the search indexer poll by themselves.
    expect(statements.filter((name) => !/^(outbox|\w+_index)\./.test(name))).toEqual(['sync.state']);
    expect(transaction).not.toHaveBeenCalled();
    transaction.mockRestore();
  });

  test('with wait it responds when something changes, holding no connection meanwhile', async () => {
    const { head } = await state(alice);
    const waiting = state(alice, `?head=${head}&wait=20`);
    const watch = app.get(HeadWatch);
    await until('the request waits', () => watch.waiting === 1);
    const { note } = (await alice.api.post('/notes', { title: 'news' })).body;
    expect(note.id).toBeDefined();
    expect((await waiting).head).toBe(head + 1);
    // A head that is not the current one: the response does not wait.
    expect((await state(alice, `?head=${head}&wait=20`)).head).toBe(head + 1);
    expect((await state(alice, '?wait=20')).head).toBe(head + 1);
  });

  test('address books have heads of their own; a wait ends with a change of a shared one', async () => {
    const shares = [{ user_id: bob.id, role: 'writer' }];
    const made = await alice.api.post('/contact/addressbooks', { name: 'Shared', shares });
    const { id } = made.body.addressbook;
    const path = `/contact/addressbooks/${id}/contacts`;
    await alice.api.post(path, { full_name: 'Ana' });
    const before = await state(bob);
    const { head } = (await bob.api.get(`${path}/sync`)).body;
    expect([before.objects.contacts[id], head]).toEqual([1, 1]);
    const waiting = state(bob, `?head=${before.head}&wait=20`);
    await until('the request waits', () => app.get(HeadWatch).waiting > 0);
    await alice.api.post(path, { full_name: 'Ben' });
    const after = await waiting;
    expect([after.head - before.head, after.collections.contacts - before.collections.contacts]).toEqual([
      1, 1,
    ]);
    expect(after.objects.contacts[id]).toBe(2);
    expect(app.get(HeadWatch).waiting).toBe(0);
    // Without access the address book is missing.
    await alice.api.put(`/contact/addressbooks/${id}`, { shares: [] });
    expect((await state(bob)).objects.contacts).not.toHaveProperty(id);
  });

  test('calendars have heads of their own; a wait ends with a change of a shared one', async () => {
    const shares = [{ user_id: bob.id, role: 'reader' }];
    const { id } = (await alice.api.post('/calendar', { name: 'Shared', shares })).body.calendar;
    const before = await state(bob);
    expect(before.objects.calendars[id]).toBe(0);
    const waiting = state(bob, `?head=${before.head}&wait=20`);
    await until('the request waits', () => app.get(HeadWatch).waiting > 0);
    const made = await alice.api.post(`/calendar/${id}/events`, { title: 'Planning', start: '2026-03-02' });
    expect(made.status).toBe(201);
    const after = await waiting;
    expect([after.objects.calendars[id], after.head - before.head]).toEqual([1, 1]);
    expect(after.collections.calendars - before.collections.calendars).toBe(1);
    await alice.api.put(`/calendar/${id}`, { shares: [] });
    expect((await state(bob)).objects.calendars).not.toHaveProperty(id);
  });

  test('a wait ends with a change of any of many calendars', async () => {
    const [dora, emil] = await app.tenant('many', 'dora', 'emil');
    const shares = [{ user_id: emil.id, role: 'reader' }];
    const ids: string[] = [];
    for (let n = 0; n < 24; n += 1)
      ids.push((await dora.api.post('/calendar', { name: `C${n}`, shares })).body.calendar.id);
    const before = await state(emil);
    const last = Object.keys(before.objects.calendars).findLast((id) => ids.includes(id));
    const waiting = state(emil, `?head=${before.head}&wait=20`);
    await until('the request waits', () => app.get(HeadWatch).waiting > 0);
    expect(
      (await dora.api.post(`/calendar/${last}/events`, { title: 'Planning', start: '2026-03-02' })).status,
    ).toBe(201);
    expect((await waiting).head).toBe(before.head + 1);
  });

  test('a report ends the wait of each request that read its counter before', async () => {
    const watch = app.get(HeadWatch);
    const { head } = await state(bob);
    await bob.api.post('/notes', { title: 'reported' });
    const request = () => {
      const { signal } = new AbortController();
      const ctx = { tenantId: bob.tenantId as string, userId: bob.id, sessionId: bob.id };
      return () => watch.wait(ctx, [[bob.id, head]], 1, signal);
    };
    const [first, second] = [request(), request()];
    expect(await until('the report', async () => (await first()) || undefined)).toBe(true);
    expect(await second()).toBe(true);
    // A poll may renew the report between two waits.
    expect([await first(), await first(), await first()]).toContain(false);
  });

  test('a wait ends with a change of a calendar whose report was lost', async () => {
    const shares = [{ user_id: bob.id, role: 'reader' }];
    const { id } = (await alice.api.post('/calendar', { name: 'Unreported', shares })).body.calendar;
    const before = await state(bob);
    const waiting = state(bob, `?head=${before.head}&wait=20`);
    await until('the request waits', () => app.get(HeadWatch).waiting > 0);
    await app.sql('ALTER TABLE calendars DISABLE TRIGGER calendars_grown');
    try {
      const made = await alice.api.post(`/calendar/${id}/events`, { title: 'Lost', start: '2026-03-02' });
      expect(made.status).toBe(201);
    } finally {
      await app.sql('ALTER TABLE calendars ENABLE TRIGGER calendars_grown');
    }
    // The counters are read at once when the bus has lost its connection; while it works, every 5 s.
    await app.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'workspace bus' AND datname = current_database()`,
    );
    expect((await waiting).objects.calendars[id]).toBe(1);
  });

  test.each(['head=x', 'head=-1', 'head=1.5', 'wait=26', 'wait=x'])('%s is 422', async (query) => {
    const { status, body } = await alice.api.get(`/sync/state?${query}`);
    expect([status, body.error]).toEqual([422, 'validation_failed']);
  });

  test('each write of a note reports the heads of all its members to the processes', async () => {
    const [erin, frank] = await app.tenant('reports', 'erin', 'frank');
    await app.get<Bus>(Bus).listen();
    const reported = new Map<string, number>();
    app.get<HeadChanges>(HeadChanges).onChange((_, user, head) => reported.set(user, head));
    const reports = async (...users: TestUser[]): Promise<void> => {
      for (const user of users) {
        const { head } = await state(user);
        await until(`a report of ${head}`, () => reported.get(user.id) === head);
      }
    };
    const { note } = (await erin.api.post('/notes', { title: 'alone' })).body;
    await reports(erin);
    const path = `/notes/${note.id}`;
    await erin.api.patch(path, { title: 'still alone', base_revision: 1 });
    await reports(erin);
    const key = { 'Idempotency-Key': 'reported' };
    await erin.api.patch(path, { title: 'in a transaction', base_revision: 2 }, { headers: key });
    await reports(erin);
    await erin.api.put(`${path}/invited`, { invited: [{ email: frank.email, role: 'editor' }] });
    await reports(erin, frank);
    const { body } = await frank.api.get(path);
    const write = { content: '<p>shared</p>', base_revision: body.note.revision };
    expect((await frank.api.patch(path, write)).status).toBe(200);
    await reports(erin, frank);
  });
});
