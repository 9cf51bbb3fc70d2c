import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { session } from '../../support/sign-in/account.ts';
import { TestApp, type TestUser } from '../../support/app.ts';

describe('the transfer of tasks and task folders to another member', () => {
  let app: TestApp;
  let owner: TestUser;
  let leaver: TestUser;
  let recipient: TestUser;
  let editor: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner, leaver, recipient, editor] = await app.tenant('acme', 'owner', 'leaver', 'recipient', 'editor');
  });
  afterAll(() => app?.stop());
  let leavers = 0;
  beforeEach(async () => {
    leaver = await app.member('acme', `leaver${(leavers += 1)}@acme.example`);
  });

  const folder = async (user: TestUser, fields: object): Promise<any> => {
    const { status, body } = await user.api.post('/task_folders', fields);
    expect([status, body.error]).toEqual([201, undefined]);
    return body.folder;
  };
  const task = async (user: TestUser, fields: object): Promise<any> => {
    const { status, body } = await user.api.post('/tasks', fields);
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const cursorOf = async (user: TestUser, path = '/tasks') =>
    (await user.api.get(`${path}/changes?limit=500`)).body.cursor;
  const since = async (user: TestUser, cursor: string, path = '/tasks'): Promise<any[]> =>
    (await user.api.get(`${path}/changes?cursor=${cursor}`)).body[path.slice(1)];
  const leave = async () => {
    expect((await owner.api.post(`/tenant/members/${leaver.id}/deactivate`)).status).toBe(200);
    const content = (await owner.api.get(`/tenant/members/${leaver.id}/content`)).body.content;
    const moved = await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: recipient.id });
    expect([moved.status, moved.body.transferred]).toEqual([200, content]);
    expect((await owner.api.get(`/tenant/members/${leaver.id}/content`)).body.content).toEqual(
      Object.fromEntries(Object.keys(content).map((kind) => [kind, 0])),
    );
    expect((await owner.api.post(`/tenant/members/${leaver.id}/activate`)).status).toBe(200);
    // The sessions ended with the membership.
    leaver = await session(app, leaver);
    return content;
  };

  test('moves the tree with its members, its tasks and the trash; the former owner gets removals', async () => {
    await folder(recipient, { name: 'mine', position: 7 });
    const members = [
      { id: editor.id, role: 'editor' },
      { id: recipient.id, role: 'viewer' },
    ];
    const top = await folder(leaver, { name: 'top', members });
    const inner = await folder(leaver, { name: 'inner', parent_id: top.id });
    const shared = await folder(editor, { name: 'shared', members: [{ id: leaver.id }] });
    const [filed, alone, trashed, foreign, elsewhere] = [
      await task(leaver, { title: 'filed', folder_id: inner.id, assignees: [owner.id] }),
      await task(leaver, { title: 'alone' }),
      await task(leaver, { title: 'trashed' }),
      await task(editor, { title: 'foreign', folder_id: top.id }),
      await task(leaver, { title: 'elsewhere', folder_id: shared.id }),
    ];
    await leaver.api.delete(`/tasks/${trashed.id}`);
    const [mine, folders, hers, theirs] = [
      await cursorOf(recipient),
      await cursorOf(recipient, '/task_folders'),
      await cursorOf(leaver),
      await cursorOf(leaver, '/task_folders'),
    ];

    expect(await leave()).toMatchObject({ task_folders: 2, tasks: 4, note_folders: 0, notes: 0, forms: 0 });

    const changed = new Map((await since(recipient, mine)).map((each) => [each.id, each]));
    const creator = { id: recipient.id };
    expect(changed.get(filed.id)).toMatchObject({ role: 'owner', creator, folder_id: inner.id, revision: 1 });
    expect(changed.get(alone.id)).toMatchObject({ role: 'owner', creator, folder_id: null });
    expect(changed.get(trashed.id)).toMatchObject({ role: 'owner', deleted: true });
    expect(changed.get(elsewhere.id)).toMatchObject({ role: 'owner', folder_id: null });
    expect((await editor.api.get(`/tasks/${elsewhere.id}`)).body.task).toMatchObject({
      folder_id: shared.id,
      creator,
    });
    const [newTop, newInner] = await since(recipient, folders, '/task_folders');
    expect(newTop).toMatchObject({
      id: top.id,
      role: 'owner',
      position: 8,
      revision: 2,
      owner: { id: recipient.id },
    });
    expect(newTop.members).toMatchObject([{ id: editor.id, role: 'editor', inherited: false }]);
    expect(newInner).toMatchObject({ id: inner.id, parent_id: top.id, role: 'owner', task_count: 1 });

    const removed = (records: any[]) =>
      records
        .filter((each) => each.removed)
        .map((each) => each.id)
        .toSorted();
    expect(removed(await since(leaver, hers))).toEqual(
      [filed, alone, trashed, foreign].map((each) => each.id).toSorted(),
    );
    expect(removed(await since(leaver, theirs, '/task_folders'))).toEqual([top.id, inner.id].toSorted());
    // Still a member of the folder of another user.
    expect((await leaver.api.get(`/tasks/${elsewhere.id}`)).body.task.role).toBe('editor');

    const { activity } = (await recipient.api.get(`/tasks/${filed.id}/panel`)).body;
    expect(activity[0]).toMatchObject({
      type: 'transferred',
      actor: { id: owner.id },
      data: { from: leaver.id, to: recipient.id },
    });
    expect((await recipient.api.post(`/tasks/${trashed.id}/restore`)).status).toBe(200);
    expect((await recipient.api.patch(`/task_folders/${top.id}`, { name: 'taken over' })).status).toBe(200);
    const { events } = (await owner.api.get('/tenant/audit?action=user.content.transferred')).body;
    expect(events[0].data).toMatchObject({ to: recipient.id, tasks: 4, task_folders: 2 });
  });

  test('the recipient and the members of the folders find the tasks, the former owner does not', async () => {
    const { id } = await folder(leaver, { name: 'f', members: [{ id: editor.id }] });
    await task(leaver, { title: 'Quartalsplan', folder_id: id });
    await task(editor, { title: 'Quartalszahlen', folder_id: id });
    const { cursor } = (await editor.api.get('/tasks/changes?limit=500')).body;
    await leave();
    expect((await since(editor, cursor)).map((each) => each.title)).toEqual(['Quartalsplan']);
    const found = async (user: TestUser) =>
      (await user.api.get('/search/tasks?q=quartals')).body.tasks.map((each: any) => each.title).toSorted();
    for (const index of [false, true]) {
      if (index) await app.get(OutboxWorker).drain();
      expect(await found(recipient)).toEqual(['Quartalsplan', 'Quartalszahlen']);
      expect(await found(editor)).toEqual(['Quartalsplan', 'Quartalszahlen']);
      expect(await found(leaver)).toEqual([]);
    }
  });

  test('more tasks than one statement moves are all moved', async () => {
    const many = Array.from({ length: 600 }, (_, n) => n);
    for (let n = 0; n < many.length; n += 100)
      await leaver.api.post('/batch', {
        requests: many
          .slice(n, n + 100)
          .map((each) => ({ method: 'POST', path: '/apis/v1/tasks', body: { title: `t${each}` } })),
      });
    expect((await leave()).tasks).toBe(600);
    expect((await recipient.api.get('/tasks?q=t599')).body.tasks).toHaveLength(1);
  });

  test('writes of other members during the transfer succeed', async () => {
    const members = [{ id: editor.id }, { id: recipient.id }];
    const { id } = await folder(leaver, { name: 'busy', members });
    const tasks: any[] = [];
    for (let n = 0; n < 8; n += 1) tasks.push(await task(leaver, { title: `${n}`, folder_id: id }));
    const note = (await leaver.api.post('/notes', { title: 'busy' })).body.note.id;
    const invited = members.map((each) => ({ ...each, role: 'editor' }));
    await leaver.api.put(`/notes/${note}/invited`, { invited });
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    const references = [{ type: 'note', id: note }];
    const responses = await Promise.all([
      owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: recipient.id }),
      ...tasks.map((each, n) =>
        (n % 2 ? editor : recipient).api.patch(`/tasks/${each.id}`, { title: `changed ${n}`, references }),
      ),
      ...tasks.map((each) => editor.api.post(`/tasks/${each.id}/comments`, { body: 'x' })),
      editor.api.post('/tasks', { title: 'added', folder_id: id, references }),
    ]);
    expect(responses.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
    const { tasks: listed } = (await recipient.api.get(`/tasks?folder_id=${id}`)).body;
    expect(listed.map((each: any) => each.role).toSorted()).toEqual(['editor', ...Array(8).fill('owner')]);
    expect((await recipient.api.get(`/notes/${note}`)).body.note.links).toHaveLength(9);
  });

  test('deactivated members are neither added to folders nor assigned; they stay where they are', async () => {
    const { id } = await folder(owner, { name: 'team', members: [{ id: leaver.id }] });
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    const both = { members: [{ id: leaver.id, role: 'viewer' }, { id: editor.id }] };
    expect((await owner.api.patch(`/task_folders/${id}`, both)).status).toBe(200);
    for (const response of [
      await owner.api.post('/task_folders', { name: 'new', members: [{ email: leaver.email }] }),
      await editor.api.post('/task_folders', { name: 'new', members: [{ id: leaver.id }, { id: owner.id }] }),
      await owner.api.post('/tasks', { title: 't', assignees: [leaver.id] }),
    ]) {
      expect([response.status, response.body.error]).toEqual([422, 'unknown_user']);
      expect(response.body.details).toHaveLength(1);
    }
    await owner.api.patch(`/task_folders/${id}`, { members: [] });
    const again = await owner.api.patch(`/task_folders/${id}`, both);
    expect([again.status, again.body.details[0].field]).toEqual([422, 'members']);
  });
});
