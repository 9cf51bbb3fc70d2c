import { FeedRetention } from '../../../src/platform/sync/feed-retention.js';
import { HeadWatch } from '../../../src/platform/sync/head-watch.js';
import { TestApp, type TestUser, type UsersOf } from '../../support/app.ts';
import { purgeTask } from '../../support/domains/trash.ts';
import { until } from '../../support/until.ts';

describe('the feeds of tasks and task folders', () => {
  let app: TestApp;
  let n = 0;

  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app?.stop());

  /** A workspace of its own for each test: feeds start empty. */
  const users = <const Names extends readonly string[]>(...names: Names): Promise<UsersOf<Names>> =>
    app.tenant(`t${(n += 1)}`, ...names);
  const made = async (user: TestUser, path: string, fields: object): Promise<any> => {
    const { status, body } = await user.api.post(path, fields);
    expect([path, status, body.error]).toEqual([path, 201, undefined]);
    return body.task ?? body.folder;
  };
  const create = (user: TestUser, fields: object = {}) => made(user, '/tasks', { title: 't', ...fields });
  const folder = (user: TestUser, fields: object = {}) =>
    made(user, '/task_folders', { name: 'f', ...fields });
  const edit = async (user: TestUser, path: string, fields: object): Promise<any> => {
    const { status, body } = await user.api.patch(path, fields);
    expect([path, status, body.error]).toEqual([path, 200, undefined]);
    return body.task ?? body.folder;
  };
  const ask = async (user: TestUser, path: string): Promise<any> => {
    const { status, body } = await user.api.get(path);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const changes = (user: TestUser, cursor?: string, query = '') =>
    ask(user, `/tasks/changes?${cursor ? `cursor=${cursor}` : ''}${query}`);
  const folderChanges = (user: TestUser, cursor?: string) =>
    ask(user, `/task_folders/changes?${cursor ? `cursor=${cursor}` : ''}`);
  const removal = (id: string, reason: string) => ({
    id,
    removed: true,
    deleted: true,
    reason,
    removed_at: expect.stringMatching(/Z$/),
  });
  /** Follows a feed from its current end. */
  async function follow(user: TestUser, path: string, list: string) {
    let { cursor } = await ask(user, `${path}/changes`);
    return async (): Promise<any[]> => {
      const page = await ask(user, `${path}/changes?cursor=${cursor}`);
      ({ cursor } = page);
      return page[list];
    };
  }

  test('an empty page, then every changed task once, in its current state, in the order of its last change', async () => {
    const [alice] = await users('alice');
    const empty = await changes(alice);
    expect(empty).toEqual({
      tasks: [],
      cursor: expect.any(String),
      next: null,
      has_more: false,
      head: expect.any(Number),
      server_time: expect.stringMatching(/Z$/),
    });
    const a = await create(alice, { description: '<p>a</p>', labels: ['x'], date: '2027-01-01' });
    const b = await create(alice);
    const first = await changes(alice, empty.cursor);
    const record = (task: any) => ({ ...task, comments: [] });
    expect(first.tasks).toEqual([record(a), record(b)]);
    await edit(alice, `/tasks/${b.id}`, { title: 'b2' });
    const a2 = await edit(alice, `/tasks/${a.id}`, { status: 'done' });
    const b3 = await edit(alice, `/tasks/${b.id}`, { title: 'b3' });
    expect((await changes(alice, first.cursor)).tasks).toEqual([record(a2), record(b3)]);
  });

  test('trash, restore and purge', async () => {
    const [alice] = await users('alice');
    const task = await create(alice, { description: '<p>secret</p>' });
    const step = await follow(alice, '/tasks', 'tasks');
    await alice.api.delete(`/tasks/${task.id}`);
    expect(await step()).toEqual([
      expect.objectContaining({ id: task.id, deleted: true, description: '<p>secret</p>' }),
    ]);
    await alice.api.post(`/tasks/${task.id}/restore`);
    expect(await step()).toEqual([{ ...task, comments: [] }]);
    await alice.api.delete(`/tasks/${task.id}`);
    await purgeTask(app, task.id);
    expect(await step()).toEqual([removal(task.id, 'purged')]);
    expect((await changes(alice)).tasks).toEqual([]);
    // The id stays reserved: an ETag of the purged task must never match another task.
    const { status, body } = await alice.api.post('/tasks', { id: task.id, title: 'again' });
    expect([status, body.error]).toEqual([409, 'already_exists']);
  });

  test('a removed assignee gets a removal without content of the task', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const hidden = await create(alice, { title: 'hidden secret' });
    const task = await create(alice, {
      description: '<p>secret</p>',
      references: [{ type: 'task', id: hidden.id }],
    });
    const start = (await changes(bob)).cursor;
    await edit(alice, `/tasks/${task.id}`, { assignees: [bob.id] });
    const assigned = await changes(bob, start);
    expect(assigned.tasks).toEqual([
      expect.objectContaining({ id: task.id, role: 'editor', description: '<p>secret</p>' }),
    ]);
    expect([assigned.tasks[0].references, (await changes(alice)).tasks[1].references]).toEqual([
      [expect.objectContaining({ id: hidden.id, title: null })],
      [expect.objectContaining({ id: hidden.id, title: 'hidden secret' })],
    ]);
    await edit(alice, `/tasks/${task.id}`, { assignees: [] });
    const lost = await bob.api.get(`/tasks/changes?cursor=${assigned.cursor}`);
    expect(lost.body.tasks).toEqual([removal(task.id, 'unshared')]);
    expect(lost.text).not.toContain('secret');
    await edit(alice, `/tasks/${task.id}`, { title: 'not for bob' });
    expect((await changes(bob, lost.body.cursor)).tasks).toEqual([]);
    await edit(alice, `/tasks/${task.id}`, { assignees: [bob.id] });
    expect((await changes(bob, lost.body.cursor)).tasks).toEqual([
      expect.objectContaining({ id: task.id, title: 'not for bob' }),
    ]);
    // An assignee who removes themselves gets the same removal.
    const step = await follow(bob, '/tasks', 'tasks');
    await edit(bob, `/tasks/${task.id}`, { assignees: [] });
    expect(await step()).toEqual([removal(task.id, 'unshared')]);
  });

  test('sharing a folder delivers it and its tasks, another role delivers them again, unsharing delivers removals', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const top = await folder(alice, { name: 'top' });
    const below = await folder(alice, { name: 'below', parent_id: top.id });
    const inTop = await create(alice, { folder_id: top.id, description: '<p>secret</p>' });
    const inBelow = await create(alice, { folder_id: below.id });
    const assigned = await create(alice, { folder_id: below.id, assignees: [bob.id] });
    const [tasks, folders] = [
      await follow(bob, '/tasks', 'tasks'),
      await follow(bob, '/task_folders', 'task_folders'),
    ];
    const both = async () => {
      const [f, t] = [await folders(), await tasks()];
      const short = ({ id, role, folder_id: place, reason }: any) => [id, role ?? reason, place];
      return [f.map(short).toSorted(), t.map(short).toSorted()];
    };
    const share = (members: unknown[]) => edit(alice, `/task_folders/${top.id}`, { members });
    await share([{ id: bob.id, role: 'viewer' }]);
    expect(await both()).toEqual([
      [
        [top.id, 'viewer', undefined],
        [below.id, 'viewer', undefined],
      ].toSorted(),
      [
        [inTop.id, 'viewer', top.id],
        [inBelow.id, 'viewer', below.id],
        [assigned.id, 'editor', below.id],
      ].toSorted(),
    ]);
    const [seq] = await app.sql<{ folder: number; task: number }>(
      `SELECT (SELECT max(seq)::int FROM task_folder_members WHERE tenant_id = $1 AND user_id = $2) AS folder,
              (SELECT min(seq)::int FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND seq > 1) AS task`,
      [bob.tenantId, bob.id],
    );
    expect(seq!.folder).toBeLessThan(seq!.task);
    await share([{ id: bob.id, role: 'editor' }]);
    expect((await both())[1]).toEqual(
      [
        [inTop.id, 'editor', top.id],
        [inBelow.id, 'editor', below.id],
      ].toSorted(),
    );
    await edit(alice, `/tasks/${inTop.id}`, { folder_id: below.id });
    expect(await both()).toEqual([[], [[inTop.id, 'editor', below.id]]]);
    await share([]);
    const responses = [await bob.api.get('/tasks/changes'), await bob.api.get('/task_folders/changes')];
    expect(responses.map(({ text }) => text.includes('secret'))).toEqual([false, false]);
    expect(await both()).toEqual([
      [
        [top.id, 'unshared', undefined],
        [below.id, 'unshared', undefined],
      ].toSorted(),
      [
        [inTop.id, 'unshared', undefined],
        [inBelow.id, 'unshared', undefined],
        [assigned.id, 'editor', null],
      ].toSorted(),
    ]);
    expect(responses.map(({ body }) => body.tasks?.length ?? body.folders.length)).toEqual([1, 0]);
  });

  test.each([
    ['keep', { deleted: false, folder_id: null }],
    ['delete', { deleted: true, folder_id: null }],
  ])('a folder deleted with contents=%s', async (contents, left) => {
    const [alice, bob] = await users('alice', 'bob');
    const { id } = await folder(alice, { members: [bob.id] });
    const mine = await create(alice, { folder_id: id });
    const bobs = await create(bob, { folder_id: id });
    const feeds = [
      await follow(alice, '/tasks', 'tasks'),
      await follow(bob, '/tasks', 'tasks'),
      await follow(bob, '/task_folders', 'folders'),
    ] as const;
    expect((await alice.api.delete(`/task_folders/${id}?contents=${contents}`)).status).toBe(200);
    expect((await feeds[0]()).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      expect.objectContaining({ id: mine.id, ...left }),
      removal(bobs.id, 'unshared'),
    ]);
    expect((await feeds[1]()).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      removal(mine.id, 'unshared'),
      expect.objectContaining({ id: bobs.id, deleted: false, folder_id: null }),
    ]);
    expect(await feeds[2]()).toEqual([removal(id, 'deleted')]);
  });

  test('pages: limit, size, and always one record; summaries have no description', async () => {
    const [alice] = await users('alice');
    for (let i = 0; i < 5; i += 1) await create(alice, { title: `${i}` });
    const titles: string[][] = [];
    for (let cursor: string | undefined; ;) {
      const page = await changes(alice, cursor, '&limit=2');
      titles.push(page.tasks.map((task: any) => task.title));
      expect(page.next).toBe(page.has_more ? page.cursor : null);
      cursor = page.cursor;
      if (!page.has_more) break;
    }
    expect(titles).toEqual([['0', '1'], ['2', '3'], ['4']]);
    const { cursor } = await changes(alice);
    const description = 'x'.repeat(250_000);
    for (let i = 0; i < 18; i += 1) await create(alice, { title: `big ${i}`, description });
    const big = await changes(alice, cursor);
    expect([big.tasks.length, big.has_more]).toEqual([16, true]);
    const rest = await changes(alice, big.cursor);
    expect(rest.tasks.map((task: any) => task.title)).toEqual(['big 16', 'big 17']);
    const [light] = (await changes(alice, big.cursor, '&include=summary')).tasks;
    const { description: _, comments: __, ...summary } = rest.tasks[0];
    expect(light).toEqual(summary);
    // Summaries fit one page, because the descriptions are not read.
    const summaries = await changes(alice, cursor, '&include=summary');
    expect([summaries.tasks.length, summaries.has_more]).toEqual([18, false]);
    await app.sql(`UPDATE tasks SET description = repeat('y', 5000000) WHERE title = 'big 17'`);
    expect((await changes(alice, rest.cursor)).tasks).toEqual([]);
    await edit(alice, `/tasks/${rest.tasks[1].id}`, { title: 'bigger than a page' });
    expect((await changes(alice, rest.cursor)).tasks.map((task: any) => task.title)).toEqual([
      'bigger than a page',
    ]);
  });

  test('many long subtasks count for the size of a page', async () => {
    const [alice] = await users('alice');
    const tasks = [await create(alice), await create(alice), await create(alice)];
    await app.sql(
      `INSERT INTO subtasks (tenant_id, task_id, id, title, done, position, created_at, updated_at)
       SELECT $1, t, gen_random_uuid(), repeat('z', 20000), false, 'a', now(), now() FROM unnest($2::uuid[]) t, generate_series(1, 100)`,
      [alice.tenantId, tasks.map((task) => task.id)],
    );
    await app.sql('UPDATE tasks SET subtasks_count = 100 WHERE id = ANY ($1::uuid[])', [
      tasks.map((task) => task.id),
    ]);
    const page = await changes(alice);
    expect([page.tasks.length, page.has_more, page.tasks[0].subtasks.length]).toEqual([2, true, 100]);
  });

  test('the index: live tasks newest first, then a cursor for changes', async () => {
    const [alice] = await users('alice');
    const tasks: any[] = [];
    for (let i = 0; i < 5; i += 1)
      tasks.push(await create(alice, { title: `${i}`, description: '<p>d</p>' }));
    for (const one of [1, 2]) await alice.api.delete(`/tasks/${tasks[one].id}`);
    await purgeTask(app, tasks[1].id);
    const first = await ask(alice, '/tasks/index?limit=2');
    expect(first).toMatchObject({ has_more: true, cursor: first.next, changes_cursor: expect.any(String) });
    expect(first.tasks.map((task: any) => [task.title, task.deleted, 'description' in task])).toEqual([
      ['2', true, false],
      ['4', false, false],
    ]);
    await edit(alice, `/tasks/${tasks[0].id}`, { title: '0 moved during the walk' });
    await create(alice, { title: 'new during the walk' });
    const second = await ask(alice, `/tasks/index?limit=2&cursor=${first.cursor}&include=content`);
    expect(second.tasks.map((task: any) => [task.title, task.description])).toEqual([['3', '<p>d</p>']]);
    expect(second).toMatchObject({ has_more: false, next: null, cursor: second.changes_cursor });
    for (const cursor of [second.cursor, first.changes_cursor, first.cursor])
      expect((await changes(alice, cursor)).tasks.map((task: any) => task.title)).toEqual([
        '0 moved during the walk',
        'new during the walk',
      ]);
    const folders = [await folder(alice), await folder(alice)];
    const index = await ask(alice, '/task_folders/index');
    expect(index.task_folders).toEqual(folders.toReversed());
    expect(index.folders).toEqual(index.task_folders);
    expect((await folderChanges(alice, index.cursor)).folders).toEqual([]);
  });

  test('any unusable cursor is 410', async () => {
    const [alice, bob] = await users('alice', 'bob');
    await create(alice);
    const { cursor } = await changes(alice);
    const others = [
      (await folderChanges(alice)).cursor,
      (await ask(alice, '/notes/changes')).cursor,
      (await changes(bob)).cursor,
      `${cursor}x`,
      'x',
    ];
    for (const bad of others) {
      const { status, body } = await alice.api.get(`/tasks/changes?cursor=${bad}`);
      expect([bad, status, body]).toEqual([
        bad,
        410,
        {
          error: 'cursor_expired',
          message: expect.any(String),
          reset_required: true,
          hint: 'GET /apis/v1/tasks/index',
        },
      ]);
    }
    expect((await alice.api.get(`/task_folders/changes?cursor=${cursor}`)).body.hint).toBe(
      'GET /apis/v1/task_folders/index',
    );
    expect((await alice.api.get(`/tasks/changes?limit=501`)).status).toBe(422);
    expect((await alice.api.get('/tasks/changes?cursor=%00')).status).toBe(422);
  });

  test('the deletion of removals expires only the cursors that needed them, and purges deleted folders', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const { id } = await folder(alice, { members: [bob.id] });
    const task = await create(alice, { folder_id: id });
    const before = [(await changes(bob)).cursor, (await folderChanges(bob)).cursor];
    await alice.api.delete(`/task_folders/${id}`);
    const between = [(await changes(bob)).cursor, (await folderChanges(bob)).cursor];
    await create(bob);
    const retention = app.get(FeedRetention);
    await retention.forget(new Date(Date.now() - 60_000));
    expect((await changes(bob, before[0])).tasks).toContainEqual(removal(task.id, 'unshared'));
    expect(await app.sql('SELECT 1 FROM task_folders WHERE id = $1', [id])).toHaveLength(1);
    await retention.forget(new Date(Date.now() + 1000));
    expect((await bob.api.get(`/tasks/changes?cursor=${before[0]}`)).status).toBe(410);
    expect((await bob.api.get(`/task_folders/changes?cursor=${before[1]}`)).status).toBe(410);
    expect((await changes(bob, between[0])).tasks).toHaveLength(1);
    expect((await folderChanges(bob, between[1])).folders).toEqual([]);
    for (const table of ['task_folders WHERE id = $1', 'task_folder_members WHERE folder_id = $1'])
      expect(await app.sql(`SELECT 1 FROM ${table}`, [id])).toEqual([]);
    // The id may be used again.
    expect(await folder(alice, { id })).toMatchObject({ id, revision: 1 });
  });

  test('wait returns as soon as a task changes', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const { cursor } = await changes(bob);
    const waiting = bob.api.get(`/tasks/changes?cursor=${cursor}&wait=25`);
    await until('a waiting request', () => app.get(HeadWatch).waiting > 0);
    const task = await create(alice, { assignees: [bob.id] });
    expect((await waiting).body.tasks).toEqual([expect.objectContaining({ id: task.id, role: 'editor' })]);
  });
});
