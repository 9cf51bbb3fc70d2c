import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import { purgeTask } from '../../support/domains/trash.ts';
import type { ApiResponse } from '../../support/network/client.ts';
import { upload } from '../../support/network/multipart.ts';

describe('tasks of clients that work offline', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const make = async (fields: object = {}): Promise<any> => {
    const { status, body } = await alice.api.post('/tasks', { title: 't', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  /** The records that a user's feed gains by a write. */
  const gained = async (user: TestUser, write: () => Promise<ApiResponse>, query = ''): Promise<any[]> => {
    const { cursor, next } = (await user.api.get('/tasks/changes?limit=500')).body;
    expect(next).toBeNull();
    const { status, body } = await write();
    expect([Math.floor(status / 100), body.error]).toEqual([2, undefined]);
    return (await user.api.get(`/tasks/changes?cursor=${cursor}${query}`)).body.tasks;
  };

  describe('Idempotency-Key', () => {
    const parts = ({ status, headers, text }: ApiResponse) => [status, headers.get('etag'), text];

    test.each([
      ['PATCH', '', { title: 'changed', base_revision: 1 }],
      ['PUT', '', { done: true, base_revision: 1 }],
      ['DELETE', '', { base_revision: 1 }],
      ['POST', '/restore', {}],
      ['PUT', '/subtasks/:subtask', { done: true }],
      ['DELETE', '/subtasks/:subtask', undefined],
      ['PATCH', '/comments/:comment', { body: 'changed' }],
      ['DELETE', '/comments/:comment', undefined],
      ['DELETE', '/attachments/:attachment', undefined],
    ])('a repeated %s %s gets the first response and changes nothing', async (method, path, body) => {
      const { id } = await make({ date: '2026-01-05', recurrence: 'FREQ=DAILY' });
      const root = `/tasks/${id}`;
      const subtask = (await alice.api.post(`${root}/subtasks`, { title: 's' })).body.subtask.id;
      const comment = (await alice.api.post(`${root}/comments`, { body: 'c' })).body.comment.id;
      const attachment = (await upload(alice.api, `${root}/attachments`, 'x')).body.attachment.id;
      const ids: Record<string, string> = { subtask, comment, attachment };
      const target = root + path.replace(/:(\w+)/, (_, name: string) => ids[name] as string);
      const headers = { 'idempotency-key': randomUUID() };
      const send = () => alice.api.request(method, target, { body, headers });
      const first = await send();
      expect([first.status, first.body.error]).toEqual([200, undefined]);
      const before = await alice.api.get(`${root}/panel`);
      expect(parts(await send())).toEqual(parts(first));
      expect((await alice.api.get(`${root}/panel`)).text).toBe(before.text);
    });

    test('responses with the content of a purged task are forgotten', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const create = () => alice.api.post('/tasks', { title: 'secret title' }, { headers });
      const { id } = (await create()).body.task;
      const rename = () => alice.api.patch(`/tasks/${id}`, { title: 'secret name' }, { headers });
      expect((await rename()).status).toBe(200);
      await alice.api.delete(`/tasks/${id}`);
      await purgeTask(app, id);
      expect(await app.sql(`SELECT 1 FROM idempotency_keys WHERE reply LIKE '%secret%'`)).toEqual([]);
      for (const response of [await create(), await rename()])
        expect([response.status, response.body.error]).toEqual([404, 'not_found']);
    });
  });

  describe('the change feed', () => {
    test('names the device of every write, so that a client skips its own', async () => {
      const task = await make({ device_id: 'alices-phone', assignees: [bob.id] });
      const root = `/tasks/${task.id}`;
      const device = { device_id: 'alices-laptop' };
      const bobs = await bob.api.get('/tasks/changes?limit=500');
      expect(bobs.body.tasks.at(-1)).toMatchObject({ id: task.id, updated_device: 'alices-phone' });
      const writes: [string, () => Promise<ApiResponse>, string | null][] = [
        ['update', () => alice.api.patch(root, { title: 'x', ...device }), 'alices-laptop'],
        ['update without a device', () => alice.api.put(root, { title: 'y' }), null],
        ['comment', () => alice.api.post(`${root}/comments`, { body: 'c', ...device }), 'alices-laptop'],
        ['subtask', () => alice.api.post(`${root}/subtasks`, { title: 's', ...device }), 'alices-laptop'],
        ['attachment', () => upload(alice.api, `${root}/attachments`, 'x'), null],
        ['trash', () => alice.api.delete(root, device), 'alices-laptop'],
        ['restore', () => alice.api.post(`${root}/restore`, { device_id: 'z' }), 'z'],
      ];
      for (const [name, write, expected] of writes) {
        const [record] = await gained(bob, write);
        expect([name, record.id, record.updated_device]).toEqual([name, task.id, expected]);
      }
      expect((await alice.api.patch(root, { device_id: 7 })).body.details[0].field).toBe('device_id');
    });

    test('a change of the folder by another user hides no record behind the device of the task', async () => {
      const { folder } = (await alice.api.post('/task_folders', { name: 'f', members: [bob.id] })).body;
      const { task } = (
        await bob.api.post('/tasks', { title: 'b', folder_id: folder.id, device_id: 'bobs-phone' })
      ).body;
      const [record] = await gained(bob, () => alice.api.delete(`/task_folders/${folder.id}`));
      expect(record).toMatchObject({ id: task.id, folder_id: null, updated_device: null });
    });

    test('contains the newest comments with the content', async () => {
      const { id } = await make({ assignees: [bob.id] });
      const [empty] = await gained(bob, () => alice.api.patch(`/tasks/${id}`, { title: 'x' }));
      expect(empty.comments).toEqual([]);
      await alice.api.post(`/tasks/${id}/comments`, { body: 'first' });
      const comment = () => alice.api.post(`/tasks/${id}/comments`, { body: 'second' });
      const [record] = await gained(bob, comment);
      const { comments } = (await bob.api.get(`/tasks/${id}/comments`)).body;
      expect(comments.map((one: any) => one.body)).toEqual(['second', 'first']);
      expect([record.comments, record.comments_count]).toEqual([comments, 2]);
      const [edited] = await gained(bob, () =>
        alice.api.patch(`/tasks/${id}/comments/${comments[1].id}`, { body: 'changed' }),
      );
      expect(edited.comments[1].body).toBe('changed');
      const [summary] = await gained(bob, comment, '&include=summary');
      expect([summary.comments, summary.description, summary.comments_count]).toEqual([
        undefined,
        undefined,
        3,
      ]);
      for (let n = 0; n < 50; n += 1) await alice.api.post(`/tasks/${id}/comments`, { body: `n${n}` });
      const [many] = await gained(bob, () => alice.api.delete(`/tasks/${id}/comments/${comments[0].id}`));
      expect([many.comments.length, many.comments[0].body, many.comments_count]).toEqual([50, 'n49', 52]);
    });
  });

  test('deactivated members cannot be assigned; existing assignments stay', async () => {
    const [carol, dora] = await app.tenant('leavers', 'carol', 'dora');
    const { task } = (await carol.api.post('/tasks', { title: 't', assignees: [dora.id] })).body;
    const other = (await carol.api.post('/tasks', { title: 'other' })).body.task;
    await app.sql(`UPDATE tenant_members SET status = 'deactivated' WHERE user_id = $1`, [dora.id]);
    const error = ({ status, body }: ApiResponse) => [status, body.error, body.details?.[0].code];
    const unknown = [422, 'unknown_user', 'unknown_user'];
    for (const named of [dora.id, dora.email]) {
      expect(error(await carol.api.post('/tasks', { title: 'x', assignees: [named] }))).toEqual(unknown);
      expect(error(await carol.api.patch(`/tasks/${other.id}`, { assignees: [named] }))).toEqual(unknown);
    }
    const subtask = await carol.api.post(`/tasks/${task.id}/subtasks`, { title: 's', assignee: dora.id });
    expect(error(subtask)).toEqual([422, 'validation_failed', 'cannot_see_task']);
    const kept = await carol.api.patch(`/tasks/${task.id}`, { title: 'y', assignees: [dora.id, carol.id] });
    expect([kept.status, kept.body.task.assignees.map((one: any) => one.id)]).toEqual([
      200,
      [dora.id, carol.id],
    ]);
  });
});
