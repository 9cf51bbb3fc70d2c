import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';

const UNKNOWN_USER = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('parts of tasks', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let dora: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    // The events stay in the outbox, where the test reads them.
    await app.get(OutboxWorker).onModuleDestroy();
    [alice, bob, carol, dora] = await app.tenant('acme', 'alice', 'bob', 'carol', 'dora');
  });
  afterAll(() => app?.stop());

  /** A task of alice's, assigned to bob, in a folder that carol may read. */
  const make = async (fields: object = {}): Promise<any> => {
    const { folder } = (
      await alice.api.post('/task_folders', { name: 'f', members: [{ id: carol.id, role: 'viewer' }] })
    ).body;
    return (
      await alice.api.post('/tasks', { title: 'Task', assignees: [bob.id], folder_id: folder.id, ...fields })
    ).body.task;
  };
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const events = async (task: string) =>
    app.sql(`SELECT type, payload FROM outbox WHERE payload->>'task_id' = $1 ORDER BY id`, [task]);

  describe('subtasks', () => {
    test('add, change, order, delete', async () => {
      const { id } = await make();
      const added = await bob.api.post(`/tasks/${id}/subtasks`, {
        title: ' First ',
        assignee: bob.email,
        date: '2026-12-01',
      });
      expect([added.status, added.headers.get('location'), added.headers.get('etag')]).toEqual([
        201,
        `/apis/v1/tasks/${id}/subtasks/${added.body.subtask.id}`,
        `"task:${id}:r1"`,
      ]);
      expect(added.body.subtask).toEqual({
        id: expect.any(String),
        title: 'First',
        done: false,
        assignee: { id: bob.id, email: bob.email, name: 'Bob' },
        date: '2026-12-01',
        position: expect.any(String),
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      });
      expect(added.body.task.subtasks).toEqual([added.body.subtask]);
      const second = (await alice.api.post(`/tasks/${id}/subtasks`, { title: 'Second' })).body.subtask;
      const path = `/tasks/${id}/subtasks/${second.id}`;
      const moved = await alice.api.put(path, { done: true, position: { before: added.body.subtask.id } });
      expect(moved.body.subtask).toMatchObject({ title: 'Second', done: true });
      expect(moved.body.task.subtasks.map((s: any) => s.title)).toEqual(['Second', 'First']);
      expect(
        (await alice.api.put(path, { position: 'last', assignee: null })).body.task.subtasks.map(
          (s: any) => s.title,
        ),
      ).toEqual(['First', 'Second']);
      const same = await alice.api.put(path, { done: true });
      expect([same.status, same.body.subtask.updated_at]).toEqual([
        200,
        same.body.task.subtasks[1].updated_at,
      ]);
      const gone = await alice.api.delete(path);
      expect([gone.status, gone.body.deleted, gone.body.task.subtasks.length]).toEqual([200, true, 1]);
      expect(outcome(await alice.api.delete(path))).toEqual([404, 'not_found']);
      expect(gone.body.task.revision).toBe(1);
    });

    test('readers get 403 for writes, other users 404', async () => {
      const { id } = await make();
      const { subtask } = (await alice.api.post(`/tasks/${id}/subtasks`, { title: 'x' })).body;
      for (const [user, expected] of [
        [carol, [403, 'forbidden']],
        [dora, [404, 'not_found']],
      ] as const) {
        expect(outcome(await user.api.post(`/tasks/${id}/subtasks`, { title: 7 }))).toEqual(expected);
        expect(outcome(await user.api.put(`/tasks/${id}/subtasks/${subtask.id}`, { title: 7 }))).toEqual(
          expected,
        );
        expect(outcome(await user.api.delete(`/tasks/${id}/subtasks/${subtask.id}`))).toEqual(expected);
      }
      expect(outcome(await alice.api.put(`/tasks/${id}/subtasks/${UNKNOWN_USER}`, { title: 7 }))).toEqual([
        404,
        'not_found',
      ]);
      expect(
        outcome(await alice.api.put(`/tasks/${UNKNOWN_USER}/subtasks/${subtask.id}`, { title: 'y' })),
      ).toEqual([404, 'not_found']);
      expect(outcome(await alice.api.put(`/tasks/${id}/subtasks/x`, {}))).toEqual([422, 'invalid_id']);
      await alice.api.delete(`/tasks/${id}`);
      expect(outcome(await alice.api.post(`/tasks/${id}/subtasks`, { title: 7 }))).toEqual([409, 'deleted']);
      expect(outcome(await alice.api.put(`/tasks/${id}/subtasks/${subtask.id}`, { title: 7 }))).toEqual([
        409,
        'deleted',
      ]);
    });

    test.each([
      ['title', {}],
      ['title', { title: ' ' }],
      ['title', { title: 'x'.repeat(513) }],
      ['done', { title: 'x', done: 1 }],
      ['assignee', { title: 'x', assignee: 7 }],
      ['assignee', { title: 'x', assignee: UNKNOWN_USER }],
      ['date', { title: 'x', date: '2026-13-01' }],
      ['position', { title: 'x', position: { after: UNKNOWN_USER } }],
      ['position', { title: 'x', position: '!' }],
    ])('rejects an invalid %s: %j', async (name, body) => {
      const response = await alice.api.post(`/tasks/${(await make()).id}/subtasks`, body);
      expect([response.status, response.body.details?.[0].field]).toEqual([422, name]);
    });

    test('an assignee must see the task', async () => {
      const { id } = await make();
      expect(
        (await alice.api.post(`/tasks/${id}/subtasks`, { title: 'x', assignee: dora.id })).body.details[0]
          .code,
      ).toBe('cannot_see_task');
      const { subtask } = (
        await alice.api.post(`/tasks/${id}/subtasks`, { title: 'x', assignee: { id: carol.id } })
      ).body;
      expect(
        (await alice.api.put(`/tasks/${id}/subtasks/${subtask.id}`, { assignee: dora.email })).status,
      ).toBe(422);
    });

    test('200 and no more', async () => {
      const { id } = await make();
      for (let n = 0; n < 20; n += 1)
        await Promise.all(
          Array.from({ length: 10 }, (_, m) =>
            alice.api.post(`/tasks/${id}/subtasks`, { title: `${n} ${m}` }),
          ),
        );
      expect((await alice.api.get(`/tasks/${id}`)).body.task.subtasks).toHaveLength(200);
      expect(outcome(await alice.api.post(`/tasks/${id}/subtasks`, { title: 'x' }))).toEqual([
        422,
        'too_many_subtasks',
      ]);
    });
  });

  describe('comments', () => {
    test.each(['body', 'text', 'content'])('by any user who sees the task, as %s', async (name) => {
      const { id } = await make();
      const { status, headers, body } = await carol.api.post(`/tasks/${id}/comments`, {
        [name]: '<b>Hi</b>',
      });
      expect([status, headers.get('location')]).toEqual([
        201,
        `/apis/v1/tasks/${id}/comments/${body.comment.id}`,
      ]);
      expect(body.comment).toEqual({
        id: expect.any(String),
        body: '<b>Hi</b>',
        author: { id: carol.id, email: carol.email, name: 'Carol' },
        created_at: expect.stringMatching(/Z$/),
        edited_at: null,
      });
      expect([body.task.comments_count, body.task.revision]).toEqual([1, 1]);
      expect(outcome(await dora.api.post(`/tasks/${id}/comments`, { [name]: 7 }))).toEqual([
        404,
        'not_found',
      ]);
    });

    test('are sent to the recipients', async () => {
      const { id } = await make();
      const first = await carol.api.post(`/tasks/${id}/comments`, { body: 'first' });
      const second = await bob.api.post(`/tasks/${id}/comments`, { body: 'second' });
      expect([outcome(first), outcome(second)]).toEqual([
        [201, undefined],
        [201, undefined],
      ]);
      const said = (await events(id))
        .filter((event) => event.type === 'task.commented')
        .map((event) => event.payload);
      expect(said.map(({ actor_id, recipients }) => [actor_id, new Set(recipients)])).toEqual([
        [carol.id, new Set([alice.id, bob.id])],
        [bob.id, new Set([alice.id, carol.id])],
      ]);
    });

    test('edited by their author, deleted by the author or the creator of the task', async () => {
      const { id } = await make();
      const { comment } = (await bob.api.post(`/tasks/${id}/comments`, { body: 'a' })).body;
      const path = `/tasks/${id}/comments/${comment.id}`;
      expect(outcome(await alice.api.patch(path, { body: 'b' }))).toEqual([403, 'forbidden']);
      expect(outcome(await carol.api.delete(path))).toEqual([403, 'forbidden']);
      const edited = await bob.api.patch(path, { body: 'b' });
      expect([edited.status, edited.body.comment.body, edited.body.comment.edited_at]).toEqual([
        200,
        'b',
        expect.stringMatching(/Z$/),
      ]);
      expect(outcome(await bob.api.patch(path, { body: ' ' }))).toEqual([422, 'validation_failed']);
      expect((await alice.api.delete(path)).body).toMatchObject({
        deleted: true,
        task: { comments_count: 0 },
      });
      expect(outcome(await bob.api.patch(path, { body: 'c' }))).toEqual([404, 'not_found']);
    });

    test.each([{}, { body: '' }, { body: 'x'.repeat(10_001) }, { body: ['x'] }, { text: null }])(
      'rejects %j',
      async (body) => {
        expect(outcome(await alice.api.post(`/tasks/${(await make()).id}/comments`, body))).toEqual([
          422,
          'validation_failed',
        ]);
      },
    );

    test('in pages, newest first', async () => {
      const { id } = await make();
      for (let n = 1; n <= 5; n += 1) await alice.api.post(`/tasks/${id}/comments`, { body: `${n}` });
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const { body }: any = await bob.api.get(
          `/tasks/${id}/comments?limit=2${cursor && `&cursor=${cursor}`}`,
        );
        seen.push(...body.comments.map((c: any) => c.body));
        cursor = body.next;
      }
      expect(seen.join()).toBe('5,4,3,2,1');
      expect((await alice.api.get(`/tasks/${(await make()).id}/comments`)).body).toEqual({
        comments: [],
        next: null,
      });
      expect(outcome(await dora.api.get(`/tasks/${id}/comments`))).toEqual([404, 'not_found']);
    });

    test('once per Idempotency-Key', async () => {
      const { id } = await make();
      const once = { headers: { 'idempotency-key': 'c' } };
      const responses = [1, 2].map(() => () => bob.api.post(`/tasks/${id}/comments`, { body: 'x' }, once));
      const [first, second] = [await responses[0]!(), await responses[1]!()];
      expect(second.text).toBe(first.text);
      expect((await bob.api.get(`/tasks/${id}`)).body.task.comments_count).toBe(1);
    });
  });

  describe('the panel', () => {
    test('shows everything at once', async () => {
      const { id, folder_id } = await make();
      await bob.api.patch(`/tasks/${id}`, { priority: 'high', description: '<p>x</p>', title: 'New' });
      await alice.api.post(`/tasks/${id}/subtasks`, { title: 'step' });
      for (let n = 0; n < 51; n += 1) await carol.api.post(`/tasks/${id}/comments`, { body: `${n}` });
      await alice.api.patch(`/tasks/${id}`, { done: true, assignees: [], folder_id: null });
      await alice.api.patch(`/tasks/${id}`, { done: false, folder_id });
      const { status, body } = await carol.api.get(`/tasks/${id}/panel`);
      expect(status).toBe(200);
      expect(body.task).toEqual((await carol.api.get(`/tasks/${id}`)).body.task);
      expect([body.subtasks, body.attachments, body.linked_notes]).toEqual([body.task.subtasks, [], []]);
      expect([body.comments.length, body.comments[0].body]).toEqual([50, '50']);
      const rest = await carol.api.get(`/tasks/${id}/comments?cursor=${body.comments_next}`);
      expect(rest.body.comments.map((c: any) => c.body)).toEqual(['0']);
      expect(body.permissions).toEqual({ update: false, delete: false, comment: true });
      expect((await alice.api.get(`/tasks/${id}/panel`)).body.permissions).toEqual({
        update: true,
        delete: true,
        comment: true,
      });
      const { activity } = (await alice.api.get(`/tasks/${id}/panel`)).body;
      expect(activity).toHaveLength(50);
      expect(activity.slice(0, 3)).toEqual([
        {
          type: 'reopened',
          actor: expect.objectContaining({ id: alice.id, name: 'Alice' }),
          at: expect.stringMatching(/Z$/),
          data: expect.objectContaining({ folder_id: true }),
        },
        {
          type: 'completed',
          actor: expect.anything(),
          at: expect.anything(),
          data: {
            status: { from: 'open', to: 'done' },
            assignees: { from: [bob.id], to: [] },
            folder_id: true,
            position: true,
          },
        },
        {
          type: 'commented',
          actor: expect.objectContaining({ id: carol.id }),
          at: expect.anything(),
          data: { id: expect.any(String) },
        },
      ]);
      expect(outcome(await bob.api.get(`/tasks/${id}/panel`))).toEqual([404, 'not_found']);
    });

    test('others than the creator read the history since they see the task', async () => {
      const { id, folder_id } = (await alice.api.post('/tasks', { title: 'Secret' })).body.task;
      expect(folder_id).toBeNull();
      const types = async (user: TestUser) =>
        (await user.api.get(`/tasks/${id}/panel`)).body.activity.map(({ type }: any) => type);
      await alice.api.patch(`/tasks/${id}`, { title: 'Public', assignees: [bob.id] });
      expect(await types(bob)).toEqual([]);
      await bob.api.patch(`/tasks/${id}`, { done: true });
      expect(await types(bob)).toEqual(['completed']);
      // Who loses the task and gets it back reads from then on.
      await alice.api.patch(`/tasks/${id}`, { assignees: [] });
      await alice.api.patch(`/tasks/${id}`, { title: 'Between' });
      const { folder } = (
        await alice.api.post('/task_folders', { name: 'f', members: [{ id: carol.id, role: 'viewer' }] })
      ).body;
      await alice.api.patch(`/tasks/${id}`, { assignees: [bob.id], folder_id: folder.id });
      expect([await types(bob), await types(carol)]).toEqual([[], []]);
      await alice.api.patch(`/task_folders/${folder.id}`, { members: [carol.id, dora.id], base_revision: 1 });
      expect(await types(dora)).toEqual([]);
      await alice.api.patch(`/tasks/${id}`, { done: false });
      expect([await types(bob), await types(carol), await types(dora)]).toEqual(
        Array.from({ length: 3 }, () => ['reopened']),
      );
      expect((await types(alice)).at(-1)).toBe('created');
      const made = (await alice.api.post('/tasks', { title: 'x', assignees: [bob.id] })).body.task.id;
      expect((await bob.api.get(`/tasks/${made}/panel`)).body.activity).toMatchObject([{ type: 'created' }]);
    });

    test('the history names the changes and keeps the newest 500', async () => {
      const { id } = await make();
      await bob.api.patch(`/tasks/${id}`, { priority: 'high', description: '<p>x</p>', title: 'New' });
      const [change, created] = (await alice.api.get(`/tasks/${id}/panel`)).body.activity;
      expect([change.actor.id, change.data]).toEqual([
        bob.id,
        { title: { from: 'Task', to: 'New' }, priority: { from: 'normal', to: 'high' }, description: true },
      ]);
      expect([created.type, created.actor.id]).toEqual(['created', alice.id]);
      await app.sql(
        `INSERT INTO task_activity (tenant_id, task_id, n, type, data, at)
         SELECT tenant_id, id, n, 'updated', '{}', now() FROM tasks, generate_series(3, 601) n WHERE id = $1`,
        [id],
      );
      await app.sql('UPDATE tasks SET activity_count = 601 WHERE id = $1', [id]);
      expect((await alice.api.get(`/tasks/${id}/panel`)).body.activity[0].actor).toBeNull();
      await bob.api.patch(`/tasks/${id}`, { priority: 'low' });
      expect(
        await app.sql('SELECT count(*)::int AS n, max(n) AS last FROM task_activity WHERE task_id = $1', [
          id,
        ]),
      ).toEqual([{ n: 500, last: 602 }]);
    });
  });
});
