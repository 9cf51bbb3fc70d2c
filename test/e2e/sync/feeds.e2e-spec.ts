import { jest } from '@jest/globals';
import pg from 'pg';
import { FeedRetention } from '../../../src/platform/sync/feed-retention.js';
import { HeadWatch } from '../../../src/platform/sync/head-watch.js';
import { Database } from '../../../src/platform/database/database.js';
import { TestApp, type TestUser, type UsersOf } from '../../support/app.ts';
import { until } from '../../support/until.ts';

describe('the change feeds', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  /** A workspace of its own for each test: feeds start empty. */
  const users = <const Names extends readonly string[]>(...names: Names): Promise<UsersOf<Names>> =>
    app.tenant(`t${(n += 1)}`, ...names);
  const create = async (user: TestUser, fields: object = {}): Promise<any> =>
    (await user.api.post('/notes', { title: 'n', ...fields })).body.note;
  const changes = async (user: TestUser, cursor?: string, query = ''): Promise<any> => {
    const { status, body } = await user.api.get(`/notes/changes?${cursor ? `cursor=${cursor}` : ''}${query}`);
    expect(status).toBe(200);
    return body;
  };

  test('an empty workspace: an empty page with a valid cursor', async () => {
    const [alice] = await users('alice');
    const empty = await changes(alice);
    expect(empty).toEqual({
      notes: [],
      cursor: expect.any(String),
      next: null,
      has_more: false,
      head: 0,
      server_time: expect.stringMatching(/Z$/),
    });
    const note = await create(alice);
    expect((await changes(alice, empty.cursor)).notes).toEqual([note]);
  });

  test('each changed note is delivered once, in its current state, in the order of its last change', async () => {
    const [alice] = await users('alice');
    const [a, b] = [await create(alice, { title: 'a' }), await create(alice, { title: 'b' })];
    const { cursor } = await changes(alice);
    await alice.api.patch(`/notes/${b.id}`, { title: 'b2', base_revision: 1 });
    await alice.api.patch(`/notes/${a.id}`, { title: 'a2', base_revision: 1 });
    await alice.api.patch(`/notes/${b.id}`, { title: 'b3', base_revision: 2 });
    const page = await changes(alice, cursor);
    expect(page.notes.map((note: any) => [note.title, note.revision])).toEqual([
      ['a2', 2],
      ['b3', 3],
    ]);
    expect((await changes(alice, page.cursor)).notes).toEqual([]);
    expect((await changes(alice, cursor)).notes).toEqual(page.notes);
  });

  test.each([
    [['SET LOCAL enable_nestloop = off']],
    [['SET LOCAL enable_indexscan = off', 'SET LOCAL enable_bitmapscan = off']],
    [
      [
        'SET LOCAL enable_hashjoin = off',
        'SET LOCAL enable_mergejoin = off',
        'SET LOCAL enable_indexonlyscan = off',
      ],
    ],
  ])(
    'content is read once for each note of the page, and not beyond it, with any plan: %j',
    async (settings) => {
      const [alice] = await users('alice');
      const content = `<p>${'a'.repeat(1_500_000)}</p>`;
      for (let made = 0; made < 4; made += 1) await create(alice, { content });
      const query = jest.spyOn(Database.prototype, 'query');
      const first = await changes(alice);
      const paths = [
        '/notes/index?include=content',
        '/notes?include=content',
        '/notes?include=content&sort=title',
      ];
      const pages = [
        first,
        ...(await Promise.all(paths.map(async (path) => (await alice.api.get(path)).body))),
      ];
      const contents = query.mock.calls.filter(([{ text }]) => /note_views|note_member_json/.test(text));
      query.mockRestore();
      expect(contents).toHaveLength(4);
      for (const { notes, next } of pages) expect([notes.length, next]).toEqual([2, expect.any(String)]);
      for (const [{ text }, values] of contents) {
        const client = new pg.Client({ connectionString: await app.databaseOf(alice.tenantId!) });
        await client.connect();
        await client.query('BEGIN');
        for (const setting of settings) await client.query(setting);
        const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...(values ?? [])]);
        await client.query('ROLLBACK');
        await client.end();
        let read = 0;
        JSON.stringify(rows, (_, value) => {
          if (value?.['Relation Name'] === 'note_revisions') read += value['Actual Loops'];
          return value;
        });
        expect(read).toBe(2);
      }
    },
  );

  test('trash, restore and purge', async () => {
    const [alice] = await users('alice');
    const note = await create(alice, { content: '<p>secret</p>' });
    let { cursor } = await changes(alice);
    const step = async () => {
      const page = await changes(alice, cursor);
      ({ cursor } = page);
      return page.notes;
    };
    await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
    expect(await step()).toEqual([
      expect.objectContaining({ id: note.id, deleted: true, content: '<p>secret</p>' }),
    ]);
    await alice.api.post(`/notes/${note.id}/restore`);
    expect(await step()).toEqual([note]);
    await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${note.id}/purge`);
    expect(await step()).toEqual([
      {
        id: note.id,
        removed: true,
        deleted: true,
        reason: 'purged',
        removed_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await changes(alice)).notes).toEqual([]);
  });

  test('a lost note is a removal without content; a regained note is complete', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const { id } = await create(alice, { content: '<p>secret</p>' });
    const start = (await changes(bob)).cursor;
    await alice.api.put(`/notes/${id}/invited`, { invited: [bob.id] });
    const invited = await changes(bob, start);
    expect(invited.notes).toEqual([
      expect.objectContaining({ id, role: 'viewer', content: '<p>secret</p>' }),
    ]);
    await alice.api.put(`/notes/${id}/invited`, { invited: [{ id: bob.id, role: 'editor' }] });
    expect((await changes(bob, invited.cursor)).notes).toEqual([
      expect.objectContaining({ id, role: 'editor' }),
    ]);
    await alice.api.put(`/notes/${id}/invited`, { invited: [] });
    const lost = await bob.api.get(`/notes/changes?cursor=${invited.cursor}`);
    expect(lost.body.notes).toEqual([
      { id, removed: true, deleted: true, reason: 'unshared', removed_at: expect.any(String) },
    ]);
    expect(lost.text).not.toContain('secret');
    await alice.api.patch(`/notes/${id}`, { title: 'not for bob', base_revision: 1 });
    expect((await changes(bob, lost.body.cursor)).notes).toEqual([]);
    await alice.api.put(`/notes/${id}/invited`, { invited: [bob.email] });
    expect((await changes(bob, lost.body.cursor)).notes).toEqual([
      expect.objectContaining({ id, title: 'not for bob' }),
    ]);
  });

  test('pages: limit, size, and always one record', async () => {
    const [alice] = await users('alice');
    for (let i = 0; i < 5; i += 1) await create(alice, { title: `${i}` });
    const titles: string[][] = [];
    for (let cursor: string | undefined; ;) {
      const page = await changes(alice, cursor, '&limit=2');
      titles.push(page.notes.map((note: any) => note.title));
      expect(page.next).toBe(page.has_more ? page.cursor : null);
      cursor = page.cursor;
      if (!page.has_more) break;
    }
    expect(titles).toEqual([['0', '1'], ['2', '3'], ['4']]);
    const { cursor } = await changes(alice);
    for (const title of ['x', 'y', 'z']) await create(alice, { title, content: 'x'.repeat(2_000_000) });
    const big = await changes(alice, cursor);
    expect([big.notes.map((note: any) => note.title), big.has_more]).toEqual([['x', 'y'], true]);
    expect((await changes(alice, big.cursor)).notes.map((note: any) => note.title)).toEqual(['z']);
    const light = await changes(alice, cursor, '&include=summary');
    expect([light.notes.length, light.has_more, 'content' in light.notes[0]]).toEqual([3, false, false]);
  });

  test('the index: live notes newest first, then a cursor for changes', async () => {
    const [alice] = await users('alice');
    const notes: any[] = [];
    for (let i = 0; i < 5; i += 1) notes.push(await create(alice, { title: `${i}`, content: '<p>c</p>' }));
    await alice.api.delete(`/notes/${notes[1].id}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${notes[1].id}/purge`);
    await alice.api.delete(`/notes/${notes[2].id}`, { base_revision: 1 });
    const first = (await alice.api.get('/notes/index?limit=2')).body;
    expect(first).toMatchObject({ has_more: true, cursor: first.next, changes_cursor: expect.any(String) });
    expect(first.notes.map((note: any) => [note.title, note.deleted, 'content' in note])).toEqual([
      ['2', true, false],
      ['4', false, false],
    ]);
    await alice.api.patch(`/notes/${notes[0].id}`, { title: '0 moved during the walk', base_revision: 1 });
    await create(alice, { title: 'new during the walk' });
    const second = (await alice.api.get(`/notes/index?limit=2&cursor=${first.cursor}&include=content`)).body;
    expect(second.notes.map((note: any) => [note.title, note.content])).toEqual([['3', '<p>c</p>']]);
    expect(second).toMatchObject({ has_more: false, next: null, cursor: second.changes_cursor });
    for (const cursor of [second.cursor, first.changes_cursor, first.cursor]) {
      expect((await changes(alice, cursor)).notes.map((note: any) => note.title)).toEqual([
        '0 moved during the walk',
        'new during the walk',
      ]);
    }
  });

  test('an expired or invalid cursor is 410, whatever the reason', async () => {
    const [alice, bob] = await users('alice', 'bob');
    await create(alice);
    const { cursor } = await changes(alice);
    const index = (await alice.api.get('/notes/index')).body;
    const folders = (await alice.api.get('/note_folders/changes')).body;
    const [[, payload, signature]] = [/^c1\.(.+)\.(.+)$/.exec(cursor)!] as [RegExpExecArray];
    const broken = [
      'x',
      'c1',
      `c1.${payload}`,
      `c1.${payload}.${signature}x`,
      `c2.${payload}.${signature}`,
      `c1.x${payload}.${signature}`,
      folders.cursor,
      'a'.repeat(1000),
      '%00',
    ];
    for (const bad of broken) {
      const { status, body } = await alice.api.get(`/notes/changes?cursor=${bad}`);
      if (bad === '%00') expect(status).toBe(422);
      else
        expect([bad, status, body]).toEqual([
          bad,
          410,
          {
            error: 'cursor_expired',
            message: expect.any(String),
            reset_required: true,
            hint: 'GET /apis/v1/notes/index',
          },
        ]);
    }
    expect((await bob.api.get(`/notes/changes?cursor=${cursor}`)).status).toBe(410);
    expect((await alice.api.get(`/notes/index?cursor=${index.cursor}`)).status).toBe(410);
    await app.sql('UPDATE sync_heads SET head = 0 WHERE user_id = $1', [alice.id]);
    expect((await alice.api.get(`/notes/changes?cursor=${cursor}`)).status).toBe(410);
  });

  test('the deletion of removals expires only the cursors that needed them', async () => {
    const [alice] = await users('alice');
    const [a, b] = [await create(alice), await create(alice)];
    const before = (await changes(alice)).cursor;
    await alice.api.delete(`/notes/${a.id}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${a.id}/purge`);
    const between = (await changes(alice)).cursor;
    await create(alice);
    const retention = app.get(FeedRetention);
    await retention.forget(new Date(Date.now() - 3_600_000));
    expect((await changes(alice, before)).notes).toContainEqual(
      expect.objectContaining({ id: a.id, removed: true }),
    );
    await retention.forget(new Date(Date.now() + 1000));
    expect((await alice.api.get(`/notes/changes?cursor=${before}`)).status).toBe(410);
    expect((await changes(alice, between)).notes).toHaveLength(1);
    expect((await changes(alice)).notes.map((note: any) => note.id)).toContain(b.id);
    expect(await app.sql('SELECT 1 FROM note_members WHERE note_id = $1', [a.id])).toEqual([]);
  });

  test('a feed whose removals cannot be deleted does not delay the others', async () => {
    const two = await users('alice', 'bob');
    for (const user of two) {
      const { id } = await create(user);
      await user.api.delete(`/notes/${id}`, { base_revision: 1 });
      await user.api.delete(`/notes/${id}/purge`);
    }
    const left = async () =>
      (
        await app.sql('SELECT FROM note_members WHERE user_id = ANY ($1) AND gone_at IS NOT NULL', [
          two.map(({ id }) => id),
        ])
      ).length;
    expect(await left()).toBe(2);
    const retention = app.get(FeedRetention);
    const source = retention.sources.find(({ collection }) => collection === 'notes')!;
    const original = source.forgetRemovals.bind(source);
    source.forgetRemovals = () => {
      source.forgetRemovals = original;
      return Promise.reject(new Error('broken'));
    };
    await expect(retention.forget(new Date(Date.now() + 1000))).rejects.toThrow('failed for 1 items');
    expect(await left()).toBe(1);
    await retention.forget(new Date(Date.now() + 1000));
    expect(await left()).toBe(0);
  });

  test('a first walk through the changes survives the deletion of removals meanwhile', async () => {
    const [alice] = await users('alice');
    const made = [await create(alice), await create(alice), await create(alice)];
    await alice.api.delete(`/notes/${made[0].id}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${made[0].id}/purge`);
    const first = await changes(alice, undefined, '&limit=1');
    await app.get(FeedRetention).forget(new Date(Date.now() + 1000));
    const second = await changes(alice, first.cursor, '&limit=5');
    expect([...first.notes, ...second.notes].map((note: any) => note.id)).toEqual([made[1].id, made[2].id]);
  });

  test.each([1, 2, 100])(
    'a first walk in pages of %d gets no removal of notes that it never had',
    async (limit) => {
      const [alice] = await users('alice');
      const make = async (title: string) => create(alice, { title });
      const purge = async ({ id }: any) => {
        await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
        await alice.api.delete(`/notes/${id}/purge`);
      };
      const first = await make('first');
      await purge(await make('never seen'));
      await make('second');
      await purge(await make('never seen either'));
      const seen: any[] = [];
      let page = await changes(alice, undefined, `limit=${limit}`);
      seen.push(...page.notes);
      // The removal is delivered: the client has received the note before.
      await purge(first);
      await make('third');
      do {
        page = await changes(alice, page.cursor, `&limit=${limit}`);
        seen.push(...page.notes);
      } while (page.has_more);
      const removed = seen.filter((record) => record.removed);
      expect(removed.map(({ id }) => id)).toEqual([first.id]);
      expect(seen.filter((record) => !record.removed).map(({ title }) => title)).toEqual([
        'first',
        'second',
        'third',
      ]);
      expect((await changes(alice, page.cursor)).notes).toEqual([]);
    },
  );

  test('folders and notes keep their common order', async () => {
    const [alice] = await users('alice');
    const { folder } = (await alice.api.post('/note_folders', { name: 'f' })).body;
    const note = await create(alice, { folder_id: folder.id });
    const notesCursor = (await changes(alice)).cursor;
    const start = (await alice.api.get('/note_folders/changes')).body;
    expect(start.folders).toEqual(start.note_folders);
    expect(start.folders).toEqual([{ ...folder, note_count: 1 }]);
    await alice.api.delete(`/note_folders/${folder.id}`);
    const after = (await alice.api.get(`/note_folders/changes?cursor=${start.cursor}`)).body;
    expect(after.folders).toEqual([
      { id: folder.id, removed: true, deleted: true, reason: 'deleted', removed_at: expect.any(String) },
    ]);
    expect((await changes(alice, notesCursor)).notes).toEqual([
      expect.objectContaining({ id: note.id, folder_id: null }),
    ]);
    const index = (await alice.api.get('/note_folders/index')).body;
    expect([index.folders, index.has_more]).toEqual([[], false]);
    expect((await alice.api.get(`/note_folders/changes?cursor=${index.cursor}`)).status).toBe(200);
    expect((await alice.api.get(`/note_folders/changes?cursor=${notesCursor}`)).status).toBe(410);
  });

  describe('wait', () => {
    test('responds on the first change and holds no connection meanwhile', async () => {
      const one = await TestApp.start({ DATABASE_POOL_MAX: '1' }, app.databaseUrl);
      try {
        const [alice] = await users('alice');
        const { cursor } = await changes(alice);
        const waiting = one.as(alice.token).get(`/notes/changes?cursor=${cursor}&wait=25`);
        await until('a waiting request', () => one.get(HeadWatch).waiting > 0);
        expect((await one.as(alice.token).get('/notes')).status).toBe(200);
        const note = await create(alice);
        expect((await waiting).body.notes).toEqual([note]);
        expect(one.get(HeadWatch).waiting).toBe(0);
      } finally {
        await one.stop();
      }
    });

    test('a change elsewhere does not end the wait; the timeout does', async () => {
      const [alice] = await users('alice');
      const { cursor } = await changes(alice);
      const waiting = alice.api.get(`/notes/changes?cursor=${cursor}&wait=2`);
      await alice.api.post('/note_folders', { name: 'not a note' });
      const { status, body } = await waiting;
      expect([status, body.notes]).toEqual([200, []]);
    });

    test('ends for a member who loses access, without later changes', async () => {
      const [alice, bob] = await users('alice', 'bob');
      const note = await create(alice);
      await alice.api.put(`/notes/${note.id}/invited`, { invited: [bob.id] });
      const { cursor } = await changes(bob);
      const waiting = bob.api.get(`/notes/changes?cursor=${cursor}&wait=25`);
      await until('the waiting request', () => app.get(HeadWatch).waiting === 1);
      await alice.api.post(`/tenant/members/${bob.id}/deactivate`);
      await app.readAccessChanges();
      await alice.api.patch(`/notes/${note.id}`, { title: 'later', base_revision: 1 });
      expect((await waiting).body.notes).toEqual([]);
    });

    test('a disconnected client stops waiting; a draining process responds', async () => {
      const one = await TestApp.start({}, app.databaseUrl);
      const [alice] = await users('alice');
      const watch = one.get(HeadWatch);
      const waiters = (count: number) => until('the waiters', () => watch.waiting === count);
      const gone = new AbortController();
      const url = `${one.base}/apis/v1/notes/changes?wait=25`;
      const headers = { authorization: `Bearer ${alice.token}` };
      const aborted = fetch(url, { headers, signal: gone.signal }).catch(() => 'aborted');
      await waiters(1);
      gone.abort();
      expect(await aborted).toBe('aborted');
      await waiters(0);
      const waiting = fetch(url, { headers });
      await waiters(1);
      const stopping = one.stop();
      expect((await waiting).status).toBe(200);
      await stopping;
    });

    test.each(['wait=26', 'wait=-1', 'wait=x', 'limit=0', 'limit=501', 'include=all'])(
      'rejects %s',
      async (query) => {
        const [alice] = await users('alice');
        expect((await alice.api.get(`/notes/changes?${query}`)).status).toBe(422);
      },
    );
  });

  test('records of folders name the device of their last write', async () => {
    const [alice, bob] = await users('alice', 'bob');
    for (const path of ['/note_folders', '/task_folders']) {
      const newest = async (user: TestUser) => {
        const { body } = await user.api.get(`${path}/changes`);
        return body[path.slice(1)].at(-1);
      };
      const created = await alice.api.post(path, { name: 'f', device_id: 'phone' });
      expect([created.status, created.body.folder.updated_device]).toEqual([201, 'phone']);
      const { id } = created.body.folder;
      expect(await newest(alice)).toEqual(created.body.folder);
      const changed = await alice.api.patch(`${path}/${id}`, { name: 'g', device_id: 'laptop' });
      expect([changed.body.folder.updated_device, (await newest(alice)).updated_device]).toEqual([
        'laptop',
        'laptop',
      ]);
      expect((await alice.api.get(`${path}/${id}`)).body.folder.updated_device).toBe('laptop');
      const unnamed = await alice.api.patch(`${path}/${id}`, { name: 'h' });
      expect([unnamed.body.folder.updated_device, (await newest(alice)).updated_device]).toEqual([
        null,
        null,
      ]);
      const invalid = await alice.api.patch(`${path}/${id}`, { name: 'i', device_id: 'x'.repeat(201) });
      expect([invalid.status, invalid.body.error]).toEqual([422, 'validation_failed']);
    }
    const { id } = (await alice.api.post('/task_folders', { name: 'shared' })).body.folder;
    await alice.api.post('/tasks', { title: 't', folder_id: id });
    await alice.api.patch(`/task_folders/${id}`, { members: [{ id: bob.id }], device_id: 'phone' });
    const [shared] = (await bob.api.get('/task_folders/changes')).body.task_folders;
    const [task] = (await bob.api.get('/tasks/changes')).body.tasks;
    expect([shared.updated_device, task.updated_device]).toEqual(['phone', 'phone']);
  });
});
