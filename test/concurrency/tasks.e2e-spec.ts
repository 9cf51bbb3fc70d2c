import type { Client } from 'pg';
import { Db } from '../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { countDeadlocks } from '../support/database/deadlocks.ts';
import { inTransaction, lockWaiters, lockWaits } from '../support/database/locks.ts';
import { until } from '../support/until.ts';

/** Two applications on one database, so that locks in memory have no effect. */
describe('writers of tasks', () => {
  let one: TestApp;
  let two: TestApp;
  let alice: TestUser;
  let users: TestUser[];
  let deadlocks: () => number;

  beforeAll(async () => {
    one = await TestApp.start();
    two = await TestApp.start({}, one.databaseUrl);
    deadlocks = countDeadlocks(one.get(Db), two.get(Db));
    [alice, ...users] = await one.tenant('acme', 'alice', 'bob', 'carol', 'dora', 'eve');
  });
  afterAll(async () => {
    await two?.stop();
    await one?.stop();
  });

  const api = (n: number, user = alice) => (n % 2 ? one : two).as(user.token);
  const make = async (fields: object = {}): Promise<any> => {
    const { status, body } = await alice.api.post('/tasks', { title: 'start', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const folder = async (fields: object = {}): Promise<any> =>
    (await alice.api.post('/task_folders', { name: 'f', ...fields })).body.folder;
  const all = <T>(n: number, run: (n: number) => Promise<T>) =>
    Promise.all(Array.from({ length: n }, (_, i) => run(i)));
  const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

  /**
   * After writes in any order: a task is visible to its creator, its assignees and the members of its folder and of the
   * folders above it, and to no other user; the numbers of each user are unique and not above the counter.
   */
  const expectConsistent = async () => {
    const wrong = await one.sql(
      `WITH RECURSIVE up AS (
         SELECT tenant_id, id AS folder, id AS at, parent_id FROM task_folders WHERE gone_at IS NULL
         UNION ALL SELECT up.tenant_id, up.folder, f.id, f.parent_id FROM up
           JOIN task_folders f ON f.tenant_id = up.tenant_id AND f.id = up.parent_id AND f.gone_at IS NULL),
       folder_people AS (
         SELECT folder, user_id, max(role) AS role FROM (
           SELECT up.folder, f.owner_id AS user_id, 'owner'::task_role AS role FROM up JOIN task_folders f ON f.id = up.folder
           UNION ALL SELECT up.folder, m.u, m.r FROM up JOIN task_folders f ON f.id = up.at, unnest(f.member_ids, f.member_roles) AS m (u, r)) x
          GROUP BY folder, user_id),
       wanted AS (
         SELECT id, user_id, max(role) AS role, max(folder::text) AS folder FROM (
           SELECT id, creator_id AS user_id, 'owner'::task_role AS role, NULL::uuid AS folder FROM tasks
           UNION ALL SELECT id, u, 'editor', NULL FROM tasks, unnest(assignee_ids) AS u
           UNION ALL SELECT t.id, p.user_id, least(p.role, 'editor'), t.folder_id FROM tasks t JOIN folder_people p ON p.folder = t.folder_id) x
          GROUP BY id, user_id),
       seen AS (SELECT task_id, user_id, role, folder_id::text AS folder FROM task_members WHERE role IS NOT NULL),
       seen_folders AS (SELECT folder_id, user_id, role FROM task_folder_members WHERE role IS NOT NULL)
       SELECT 'task' AS what, coalesce(w.id, s.task_id) AS id, coalesce(w.user_id, s.user_id) AS user_id, w.role AS wanted, s.role AS got
         FROM wanted w FULL JOIN seen s ON s.task_id = w.id AND s.user_id = w.user_id
        WHERE (w.role, w.folder) IS DISTINCT FROM (s.role, s.folder)
       UNION ALL
       SELECT 'folder', coalesce(w.folder, s.folder_id), coalesce(w.user_id, s.user_id), w.role, s.role
         FROM folder_people w FULL JOIN seen_folders s ON s.folder_id = w.folder AND s.user_id = w.user_id
        WHERE w.role IS DISTINCT FROM s.role`,
    );
    expect(wrong).toEqual([]);
    const numbers = await one.sql(
      `SELECT user_id, count(*)::int AS rows, count(DISTINCT seq)::int AS numbers, max(seq) <= max(head) AS below FROM (
         SELECT tenant_id, user_id, seq FROM task_members UNION ALL SELECT tenant_id, user_id, seq FROM task_folder_members) x
         JOIN sync_heads USING (tenant_id, user_id) GROUP BY user_id`,
    );
    for (const { rows, numbers: distinct, below } of numbers) expect([distinct, below]).toEqual([rows, true]);
  };

  test('two updates with one revision: one wins, the other returns the current task', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { id } = await make();
      const responses = await all(8, (n) =>
        api(n).patch(`/tasks/${id}`, { title: `t${n}`, base_revision: 1 }),
      );
      const winners = responses.filter((response) => response.status === 200);
      expect(winners).toHaveLength(1);
      const { task } = winners[0]!.body;
      for (const { status, body } of responses.filter((response) => response.status !== 200)) {
        expect([status, body.error, body.revision, body.task.title]).toEqual([
          409,
          'conflict',
          2,
          task.title,
        ]);
      }
    }
  });

  test('10 completions of a repeating task at once make one next task', async () => {
    for (let round = 0; round < 10; round += 1) {
      const title = `repeats ${round}`;
      const { id } = await make({ title, date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      const responses = await all(10, (n) => api(n).patch(`/tasks/${id}`, { done: true }));
      expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
      expect(new Set(responses.map(({ body }) => body.task.next_task_id)).size).toBe(1);
      const made = await one.sql(`SELECT id, status FROM tasks WHERE title = $1 ORDER BY date`, [title]);
      expect(made.map(({ status }) => status)).toEqual([2, 0]);
      expect(made[1]!.id).toBe(responses[0]!.body.task.next_task_id);
    }
    await expectConsistent();
  });

  test('opening a completed task while its next one is edited keeps the edit or purges the next one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      const { body } = await alice.api.patch(`/tasks/${id}`, { done: true });
      const next = body.task.next_task_id as string;
      const [opened, again, edited] = await Promise.all([
        api(0).patch(`/tasks/${id}`, { done: false }),
        api(1).patch(`/tasks/${id}`, { done: false }),
        api(2).patch(`/tasks/${next}`, { title: 'edited' }),
      ]);
      expect([opened.status, again.status]).toEqual([200, 200]);
      const found = await one.sql(`SELECT title FROM tasks WHERE id = $1`, [next]);
      expect(found).toEqual(edited.status === 200 ? [{ title: 'edited' }] : []);
      if (edited.status !== 200) expect(edited.status).toBe(404);
      const kept = (await alice.api.get(`/tasks/${id}`)).body.task;
      expect([kept.status, kept.next_task_id]).toEqual(['open', edited.status === 200 ? next : null]);
    }
    await expectConsistent();
  });

  test('completing a repeating task while its rule is edited follows one of both rules', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      const [done, edited] = await Promise.all([
        api(0).patch(`/tasks/${id}`, { done: true }),
        api(1).patch(`/tasks/${id}`, { recurrence: 'FREQ=WEEKLY' }),
      ]);
      expect([done.status, edited.status]).toEqual([200, 200]);
      const next = (await alice.api.get(`/tasks/${done.body.task.next_task_id}`)).body.task;
      expect([
        ['FREQ=DAILY', '2026-01-06'],
        ['FREQ=WEEKLY', '2026-01-12'],
      ]).toContainEqual([next.recurrence.rrule, next.date]);
    }
  });

  test('two moves cannot create a cycle of folders', async () => {
    for (let round = 0; round < 15; round += 1) {
      const [a, b] = [await folder(), await folder()];
      const responses = await Promise.all([
        api(0).patch(`/task_folders/${a.id}`, { parent_id: b.id }),
        api(1).patch(`/task_folders/${b.id}`, { parent_id: a.id }),
      ]);
      expect(responses.map(({ status, body }) => [status, body.error]).toSorted()).toEqual([
        [200, undefined],
        [422, 'folder_cycle'],
      ]);
    }
    await expectConsistent();
  });

  test('a writer that waits for a tree of folders while it is transferred waits for the tree of the new owner too', async () => {
    const [bob, carol, dora] = users as [TestUser, TestUser, TestUser];
    const { id } = await folder({ members: [carol, dora].map((user) => ({ id: user.id, role: 'editor' })) });
    const holding = async <T>(owner: TestUser, work: (client: Client) => Promise<T>): Promise<T> =>
      inTransaction(await one.databaseOf(alice.tenantId!), async (client) => {
        await client.query('SELECT pg_advisory_xact_lock(task_tree_key($1, $2))', [owner.tenantId, owner.id]);
        return work(client);
      });
    let ended = 0;
    const responses = await holding(bob, async (next) => {
      const writing = await holding(alice, async (transfer) => {
        const sent = [
          api(0, carol).post('/tasks', { title: 'x', folder_id: id }),
          api(1, dora).patch(`/task_folders/${id}`, { members: [{ id: carol.id, role: 'editor' }] }),
        ].map((response) => response.finally(() => (ended += 1)));
        await lockWaiters(next, 2);
        await transfer.query('UPDATE task_folders SET owner_id = $2 WHERE id = $1', [id, bob.id]);
        await transfer.query('COMMIT');
        return sent;
      });
      await until('both to wait again', async () => ended > 0 || (await lockWaits(next)).length === 2);
      expect(ended).toBe(0);
      await next.query('COMMIT');
      return Promise.all(writing);
    });
    expect(responses.map(({ status }) => status)).toEqual([201, 200]);
  });

  test('sharing a folder includes tasks that are created in it or moved into it at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await folder();
      const outside = await all(4, () => make());
      const repeating = await make({ folder_id: id, date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      const responses = await Promise.all([
        ...outside.map((task, n) => api(n).patch(`/tasks/${task.id}`, { folder_id: id })),
        ...Array.from({ length: 4 }, (_, n) => api(n).post('/tasks', { title: 'x', folder_id: id })),
        api(0).patch(`/tasks/${repeating.id}`, { done: true }),
        api(1).patch(`/task_folders/${id}`, { members: users.map((user) => user.id) }),
      ]);
      expect(responses.map(({ status }) => status).filter((status) => status >= 400)).toEqual([]);
    }
    await expectConsistent();
  });

  test('random assignments, shares, moves and deletions leave the right members, without deadlock', async () => {
    deadlocks();
    const folders = [await folder(), await folder()];
    folders.push(await folder({ parent_id: folders[0].id }), await folder({ parent_id: folders[1].id }));
    const tasks = await all(12, (n) => make({ folder_id: folders[n % 4].id }));
    const some = () => users.filter(() => Math.random() < 0.5).map((user) => user.id);
    const steps: (() => Promise<any>)[] = [
      () => api(pick([0, 1])).patch(`/tasks/${pick(tasks).id}`, { assignees: some() }),
      () =>
        api(pick([0, 1])).patch(`/tasks/${pick(tasks).id}`, {
          folder_id: pick([null, ...folders.map((f) => f.id)]),
        }),
      () => api(pick([0, 1]), pick(users)).patch(`/tasks/${pick(tasks).id}`, { title: `t${Math.random()}` }),
      () => api(pick([0, 1])).patch(`/task_folders/${pick(folders).id}`, { members: some() }),
      () =>
        api(pick([0, 1])).patch(`/task_folders/${pick(folders.slice(2)).id}`, {
          parent_id: pick(folders.slice(0, 2)).id,
        }),
      () => api(pick([0, 1])).post(`/tasks/${pick(tasks).id}/comments`, { body: 'c' }),
      () => api(pick([0, 1])).delete(`/tasks/${pick(tasks).id}`),
      () => api(pick([0, 1])).post(`/tasks/${pick(tasks).id}/restore`),
      () => api(pick([0, 1])).post('/notes', { title: 'n' }),
    ];
    await all(8, async () => {
      for (let n = 0; n < 30; n += 1) {
        const { status, body } = await pick(steps)();
        expect([200, 201, 403, 404, 409, 422]).toContain(status);
        if (status === 422) expect(body.details?.[0]?.field).toBe('folder_id');
      }
    });
    await all(4, (n) => api(n).delete(`/task_folders/${folders[n].id}${n % 2 ? '?contents=delete' : ''}`));
    await expectConsistent();
    expect(deadlocks()).toBe(0);
  });

  test('a task made from a note while the note is deleted: both have the link, or neither', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { id } = (await alice.api.post('/notes', { title: 'n' })).body.note;
      const [made, trashed] = await Promise.all([
        api(0).post(`/notes/${id}/task`),
        api(1).delete(`/notes/${id}`, { base_revision: 1 }),
      ]);
      expect(trashed.status).toBe(200);
      const { links } = (await alice.api.get(`/notes/${id}`)).body.note;
      if (made.status === 201) expect(links).toMatchObject([{ id: made.body.task.id }]);
      else expect([made.status, made.body.error, links]).toEqual([409, 'deleted', []]);
      expect(
        await one.sql(`SELECT count(*)::int AS n FROM tasks WHERE linked_notes @> ARRAY[$1::uuid]`, [id]),
      ).toEqual([{ n: links.length }]);
    }
  });

  test('deleting, renaming and restoring linked tasks while their note is edited: no deadlock, and the links fit the tasks', async () => {
    deadlocks();
    const invited = users.map((user) => ({ id: user.id, role: 'editor' }));
    // Two notes of the same users, whose counters are locked in opposite orders unless they are sorted.
    const notes = await all(2, async () => {
      const { id } = (await alice.api.post('/notes', { title: 'n' })).body.note;
      await alice.api.put(`/notes/${id}/invited`, { invited });
      return id as string;
    });
    const tasks = await all(4, async (n) => {
      const assignees = [pick(users).id, alice.id];
      return (await api(n, users[n]).post(`/notes/${notes[n % 2]}/task`, { title: `t${n}`, assignees })).body
        .task;
    });
    await all(8, async (n) => {
      const owner = users[n % 4]!;
      const task = tasks[n % 4]!;
      for (let k = 0; k < 12; k += 1) {
        const { status } = await pick([
          () => api(k, owner).delete(`/tasks/${task.id}`),
          () => api(k, owner).post(`/tasks/${task.id}/restore`),
          () => api(k, owner).patch(`/tasks/${task.id}`, { title: `t${n} ${k}` }),
          () =>
            api(k, owner).post(`/notes/${pick(notes)}/task`, { title: 'more', assignees: [pick(users).id] }),
          () => api(k, owner).patch(`/tasks/${task.id}`, { assignees: [pick(users).id] }),
          () =>
            api(k).put(`/notes/${pick(notes)}/invited`, {
              invited: invited.toSorted(() => Math.random() - 0.5),
            }),
        ])();
        expect([200, 201, 409]).toContain(status);
      }
    });
    for (const id of notes) {
      const live = await one.sql<{ id: string; title: string }>(
        // A note shows a reader the titles of the linked tasks that the reader can see.
        `SELECT task.id, visible.title FROM tasks task
           LEFT JOIN task_titles visible ON (visible.task_id, visible.user_id) = (task.id, $2)
          WHERE task.linked_notes @> ARRAY[$1::uuid] AND task.deleted_at IS NULL ORDER BY task.id`,
        [id, alice.id],
      );
      const { links } = (await alice.api.get(`/notes/${id}`)).body.note;
      const shown = links.map((link: any) => ({ id: link.id, title: link.title }));
      expect(shown.toSorted((a: any, b: any) => (a.id < b.id ? -1 : 1))).toEqual(live);
    }
    expect(deadlocks()).toBe(0);
  });

  test('concurrent moves between two tasks leave every task between them', async () => {
    const { id } = await folder();
    const [first, last] = [
      await make({ folder_id: id, title: 'first' }),
      await make({ folder_id: id, title: 'last' }),
    ];
    const moved = await all(10, () => make({ folder_id: id, title: 'moved' }));
    const responses = await all(10, (n) =>
      api(n).patch(`/tasks/${moved[n].id}`, { position: { after: first.id } }),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const titles = async () =>
      (await alice.api.get(`/tasks?folder_id=${id}&sort=position`)).body.tasks.map((task: any) => task.title);
    expect(await titles()).toEqual(['first', ...Array(10).fill('moved'), 'last']);
    // Concurrent moves may create equal keys. A task can still be placed between the first task and those.
    await alice.api.patch(`/tasks/${last.id}`, { position: { after: first.id } });
    expect((await titles()).slice(0, 2)).toEqual(['first', 'last']);
  });
});
