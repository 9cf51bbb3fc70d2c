import { Db } from '../../src/platform/database/db.js';
import { TestApp, type TestUser, type UsersOf } from '../support/app.ts';
import { countDeadlocks } from '../support/database/deadlocks.ts';

/** Two applications on one database: writers, and a reader who follows the feed meanwhile. */
describe('the feeds of tasks during writes', () => {
  let one: TestApp;
  let two: TestApp;
  let n = 0;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const users = <const Names extends readonly string[]>(...names: Names): Promise<UsersOf<Names>> =>
    one.tenant(`t${(n += 1)}`, ...names);
  const api = (user: TestUser, turn: number) => (turn % 2 ? one : two).as(user.token);
  const made = async (user: TestUser, path: string, fields: object): Promise<any> => {
    const { status, body } = await user.api.post(path, fields);
    expect([path, status, body.error]).toEqual([path, 201, undefined]);
    return body.task ?? body.folder ?? body.note;
  };

  /** Follows a feed until the writers have ended, and then to its end. */
  async function follow(user: TestUser, path: string, list: string, limit: number, done: () => boolean) {
    const items = new Map<string, any>();
    let cursor = '';
    for (let turn = 0, last = false; ; turn += 1) {
      const written = done();
      const { status, body } = await api(user, turn).get(`${path}/changes?limit=${limit}${cursor}`);
      expect(status).toBe(200);
      for (const item of body[list])
        if (item.removed) items.delete(item.id);
        else items.set(item.id, item);
      cursor = `&cursor=${body.cursor}`;
      if (body.has_more) continue;
      if (last) return items;
      last = written;
    }
  }
  const all = async (user: TestUser, path: string, list: string): Promise<Map<string, any>> => {
    const items = new Map<string, any>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await user.api.get(`${path}limit=200${cursor && `&cursor=${cursor}`}`);
      for (const item of body[list]) items.set(item.id, item);
      cursor = body.next as string | null;
    }
    return items;
  };
  const without = (field: string, items: Map<string, any>) =>
    [...items.values()]
      .map((item) => ({ ...item, [field]: null }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));

  test('a reader that pages during concurrent writes misses nothing', async () => {
    const [alice, bob] = await users('alice', 'bob');
    const { id: folder } = await made(alice, '/task_folders', { name: 'f', members: [bob.id] });
    const tasks = await Promise.all(
      Array.from({ length: 12 }, (_, i) => made(alice, '/tasks', { title: `${i}`, folder_id: folder })),
    );
    let writing = 2;
    const writer = async (user: TestUser, turn: number) => {
      for (let i = 0; i < 60; i += 1) {
        const { id } = tasks[(i * 5 + turn) % tasks.length];
        const fields = [
          { title: `${turn} ${i}` },
          { assignees: i % 2 ? [bob.id] : [] },
          { folder_id: i % 2 ? null : folder },
        ][i % 3] as object;
        const { status } = await api(user, turn).patch(`/tasks/${id}`, fields);
        expect([200, 403, 404]).toContain(status);
      }
      writing -= 1;
    };
    const done = () => writing === 0;
    const [seenByAlice, seenByBob] = await Promise.all([
      follow(alice, '/tasks', 'tasks', 3, done),
      follow(bob, '/tasks', 'tasks', 100, done),
      writer(alice, 0),
      writer(bob, 1),
    ]);
    expect(without('comments', seenByAlice)).toEqual(
      without('comments', await all(alice, '/tasks?', 'tasks')),
    );
    expect(without('comments', seenByBob)).toEqual(without('comments', await all(bob, '/tasks?', 'tasks')));
  });

  test('a folder shared and unshared while tasks move through it: each reader ends with the visible items', async () => {
    const [alice, bob, carol] = await users('alice', 'bob', 'carol');
    const top = await made(alice, '/task_folders', { name: 'top' });
    const below = await made(alice, '/task_folders', { name: 'below', parent_id: top.id });
    const tasks = await Promise.all(
      Array.from({ length: 8 }, (_, i) => made(alice, '/tasks', { title: `${i}`, folder_id: below.id })),
    );
    let writing = 2;
    const sharing = async () => {
      for (let i = 0; i < 30; i += 1) {
        const members = [[bob.id, carol.id], [bob.id], [], [carol.id]][i % 4];
        const { status } = await api(alice, i).patch(`/task_folders/${i % 3 ? top.id : below.id}`, {
          members,
        });
        expect(status).toBe(200);
      }
      writing -= 1;
    };
    const moving = async () => {
      for (let i = 0; i < 60; i += 1) {
        const folder_id = [below.id, null, top.id][i % 3];
        const { status } = await api(alice, i).patch(`/tasks/${tasks[i % 8].id}`, { folder_id });
        expect(status).toBe(200);
      }
      writing -= 1;
    };
    const done = () => writing === 0;
    const [bobs, bobsFolders, carols] = await Promise.all([
      follow(bob, '/tasks', 'tasks', 5, done),
      follow(bob, '/task_folders', 'folders', 5, done),
      follow(carol, '/tasks', 'tasks', 50, done),
      sharing(),
      moving(),
    ]);
    expect(without('comments', bobs)).toEqual(without('comments', await all(bob, '/tasks?', 'tasks')));
    expect(without('comments', carols)).toEqual(without('comments', await all(carol, '/tasks?', 'tasks')));
    expect(without('task_count', bobsFolders)).toEqual(
      without('task_count', await all(bob, '/task_folders?', 'folders')),
    );
  });

  test('renaming a linked task while members join it does not deadlock', async () => {
    const everyUser = await users('alice', 'bob');
    const deadlocks = countDeadlocks(one.get(Db), two.get(Db));
    const tasks: any[] = [];
    for (const user of everyUser) {
      const note = await made(user, '/notes', { title: 'n' });
      tasks.push((await user.api.post(`/notes/${note.id}/task`, {})).body.task);
    }
    // Each adds the other to the task: a write that locked its own user's counter first, then the counter of the new assignee, would
    // deadlock with the other write.
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const [mine, other] = i % 2 ? [0, 1] : [1, 0];
        const fields = { title: `t${i}`, assignees: i % 3 ? [everyUser[other]!.id] : [] };
        const { status } = await api(everyUser[mine]!, i >> 1).patch(`/tasks/${tasks[mine].id}`, fields);
        expect(status).toBe(200);
      }),
    );
    expect(deadlocks()).toBe(0);
  });
});
