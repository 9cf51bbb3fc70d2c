import { jest } from '@jest/globals';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../../support/app.ts';

const UNKNOWN_USER = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('tasks made from notes', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let dora: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol, dora] = await app.tenant('acme', 'alice', 'bob', 'carol', 'dora');
  });
  afterAll(() => app?.stop());

  /** A note of alice's that bob may edit and carol may read. */
  const makeNote = async (title = 'Team offsite'): Promise<any> => {
    const { id } = (await alice.api.post('/notes', { title })).body.note;
    const invited = [
      { id: bob.id, role: 'editor' },
      { id: carol.id, role: 'viewer' },
    ];
    return (await alice.api.put(`/notes/${id}/invited`, { invited })).body.note;
  };
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const links = async (id: string) => (await alice.api.get(`/notes/${id}`)).body.note.links;
  /** The changes in the note feed of a user since a cursor. */
  const since = async (user: TestUser, cursor: string) =>
    (await user.api.get(`/notes/changes?cursor=${cursor}`)).body;
  const cursorOf = async (user: TestUser) => (await user.api.get('/notes/changes?limit=500')).body.cursor;

  test('refer to the note, and the note links to them, at the same revision', async () => {
    const note = await makeNote();
    const cursor = await cursorOf(carol);
    const { status, headers, body } = await bob.api.post(`/notes/${note.id}/task`, {
      title: ' Book the rooms ',
      date: '2026-12-01',
      priority: 'HIGH',
      assignees: [{ id: dora.id, email: dora.email }],
      description: '<p>x</p>',
      group: 'Travel',
      references: [
        { type: 'url', url: 'https://example.com/' },
        { type: 'note', id: note.id },
      ],
    });
    expect([status, headers.get('etag'), headers.get('location')]).toEqual([
      201,
      `"note:${note.id}:r${note.revision}"`,
      `/apis/v1/tasks/${body.task.id}`,
    ]);
    expect(body.task).toMatchObject({
      title: 'Book the rooms',
      date: '2026-12-01',
      priority: 'high',
      description: '<p>x</p>',
      group: 'Travel',
      assignees: [{ id: dora.id }],
      references: [
        { type: 'note', id: note.id, title: 'Team offsite', url: `/apis/v1/notes/${note.id}` },
        { type: 'url', url: 'https://example.com/' },
      ],
      created_by: bob.id,
      role: 'owner',
    });
    const link = {
      type: 'task',
      id: body.task.id,
      title: 'Book the rooms',
      created_at: expect.stringMatching(/Z$/),
    };
    expect([body.note.links, body.note.revision, body.note.role]).toEqual([[link], note.revision, 'editor']);
    expect((await alice.api.get(`/notes/${note.id}/revisions`)).body.revisions).toHaveLength(1);
    // Every member of the note gets the link in the feed, without the title of a task that the member cannot read.
    expect((await since(carol, cursor)).notes).toMatchObject([
      { id: note.id, links: [{ ...link, title: null }] },
    ]);
    // Dora, an assignee of the task, has no access to the note: she sees the reference without the title.
    const seen = (await dora.api.get(`/tasks/${body.task.id}`)).body.task;
    expect(seen.references[0]).toEqual({
      type: 'note',
      id: note.id,
      title: null,
      url: `/apis/v1/notes/${note.id}`,
    });
    expect((await dora.api.get(`/tasks/${body.task.id}/panel`)).body.linked_notes).toEqual([
      { id: note.id, title: null, readable: false },
    ]);
    expect((await bob.api.get(`/tasks/${body.task.id}/panel`)).body.linked_notes).toEqual([
      { id: note.id, title: 'Team offsite', readable: true },
    ]);
    expect((await bob.api.get(`/tasks?note_id=${note.id}`)).body.tasks.map((t: any) => t.id)).toEqual([
      body.task.id,
    ]);
  });

  test('have the title of the note where none is given', async () => {
    const note = await makeNote();
    for (const body of [undefined, {}, { title: '  ' }])
      expect((await alice.api.post(`/notes/${note.id}/task`, body)).body.task.title).toBe('Team offsite');
    const untitled = await makeNote('');
    for (const body of [undefined, { title: ' ' }]) {
      const response = await alice.api.post(`/notes/${untitled.id}/task`, body);
      expect([...outcome(response), response.body.details[0].field]).toEqual([
        422,
        'validation_failed',
        'title',
      ]);
    }
    expect(await links(untitled.id)).toEqual([]);
  });

  test('rejections come in order, and change nothing', async () => {
    const note = await makeNote();
    const path = `/notes/${note.id}/task`;
    expect(outcome(await alice.api.post('/notes/x/task', { date: 7 }))).toEqual([422, 'invalid_id']);
    expect(outcome(await dora.api.post(path, { date: 7 }))).toEqual([404, 'not_found']);
    expect(outcome(await alice.api.post(`/notes/${UNKNOWN_USER}/task`, { date: 7 }))).toEqual([
      404,
      'not_found',
    ]);
    expect(outcome(await carol.api.post(path, { date: 7 }))).toEqual([403, 'forbidden']);
    for (const [field, body] of [
      ['title', { title: 7 }],
      ['title', { title: 'x'.repeat(513) }],
      ['date', { date: '2026-02-30' }],
      ['date', { date: '2025-02-29' }],
      ['priority', { priority: 'very' }],
      ['assignees.0', { assignees: [{ id: UNKNOWN_USER }] }],
      ['assignees.1', { assignees: [{ id: bob.id }, { email: 'x@y.example' }] }],
      ['references.0', { references: [{ type: 'note', id: UNKNOWN_USER }] }],
    ] as const) {
      const response = await alice.api.post(path, body);
      expect([response.status, response.body.details[0].field]).toEqual([422, field]);
    }
    await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
    expect(outcome(await alice.api.post(path, { date: 7 }))).toEqual([409, 'deleted']);
    expect(outcome(await carol.api.post(path, {}))).toEqual([403, 'forbidden']);
    expect(await app.sql(`SELECT 1 FROM tasks WHERE linked_notes @> ARRAY[$1::uuid]`, [note.id])).toEqual([]);
  });

  test('refer to as many items as any task, and can be sent back', async () => {
    const { id } = await makeNote();
    const references = Array.from({ length: 50 }, (_, n) => ({
      type: 'url',
      url: `https://example.com/${n}`,
    }));
    expect(outcome(await bob.api.post(`/notes/${id}/task`, { references }))).toEqual([
      422,
      'validation_failed',
    ]);
    const { body } = await bob.api.post(`/notes/${id}/task`, { references: references.slice(1) });
    expect(body.task.references).toHaveLength(50);
    expect((await bob.api.put(`/tasks/${body.task.id}`, body.task)).status).toBe(200);
  });

  test('once per Idempotency-Key', async () => {
    const note = await makeNote();
    const once = { headers: { 'idempotency-key': 'linked' } };
    const [first, second] = [
      await alice.api.post(`/notes/${note.id}/task`, {}, once),
      await alice.api.post(`/notes/${note.id}/task`, {}, once),
    ];
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(await links(note.id)).toHaveLength(1);
  });

  test('take the link away when deleted and bring it back when restored', async () => {
    const note = await makeNote();
    const first = (await bob.api.post(`/notes/${note.id}/task`, { title: 'first' })).body.task;
    const second = (await bob.api.post(`/notes/${note.id}/task`, { title: 'second' })).body.task;
    const titles = async () =>
      (await bob.api.get(`/notes/${note.id}`)).body.note.links.map((link: any) => link.title);
    const cursor = await cursorOf(carol);
    expect((await bob.api.delete(`/tasks/${first.id}`)).status).toBe(200);
    expect(await titles()).toEqual(['second']);
    expect((await since(carol, cursor)).notes).toMatchObject([
      { id: note.id, revision: 1, links: [{ id: second.id }] },
    ]);
    expect((await bob.api.post(`/tasks/${first.id}/restore`)).status).toBe(200);
    expect(await titles()).toEqual(['second', 'first']);
    // A new title of the task changes the note; a new priority does not.
    const before = await cursorOf(carol);
    await bob.api.patch(`/tasks/${second.id}`, { priority: 'low' });
    expect((await since(carol, before)).notes).toEqual([]);
    expect(
      (await bob.api.patch(`/tasks/${second.id}`, { title: 'renamed', done: true })).body.task,
    ).toMatchObject({ title: 'renamed', done: true });
    expect(await titles()).toEqual(['renamed', 'first']);
    expect((await alice.api.get(`/notes/${note.id}`)).body.note.revision).toBe(1);
    // A rejection rolls the notes back too.
    expect(outcome(await bob.api.patch(`/tasks/${second.id}`, { title: 'stale', base_revision: 1 }))).toEqual(
      [409, 'conflict'],
    );
    expect(outcome(await bob.api.delete(`/tasks/${second.id}`, { base_revision: 1 }))).toEqual([
      409,
      'conflict',
    ]);
    expect(await titles()).toEqual(['renamed', 'first']);
  });

  test('keep the reference, without a title, when the note is purged', async () => {
    const note = await makeNote();
    const { task } = (await alice.api.post(`/notes/${note.id}/task`)).body;
    await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
    expect((await alice.api.get(`/tasks/${task.id}`)).body.task.references[0].title).toBe('Team offsite');
    await alice.api.delete(`/notes/${note.id}/purge`);
    expect((await alice.api.get(`/tasks/${task.id}`)).body.task.references).toEqual([
      { type: 'note', id: note.id, title: null, url: `/apis/v1/notes/${note.id}` },
    ]);
    expect((await alice.api.delete(`/tasks/${task.id}`)).status).toBe(200);
    expect((await alice.api.post(`/tasks/${task.id}/restore`)).status).toBe(200);
  });

  test('can be sent back as they were read, also where the note is purged or not readable', async () => {
    const note = await makeNote();
    const fields = { assignees: [{ id: dora.id }] };
    const { task } = (await alice.api.post(`/notes/${note.id}/task`, fields)).body;
    expect((await dora.api.get(`/notes/${note.id}`)).status).toBe(404);
    const sendBack = async (user: TestUser, more: object) => {
      const read = (await user.api.get(`/tasks/${task.id}`)).body.task;
      const response = await user.api.put(`/tasks/${task.id}`, { ...read, ...more });
      expect(outcome(response)).toEqual([200, undefined]);
      return response.body.task;
    };
    expect((await sendBack(dora, { title: 'by Dora' })).references).toMatchObject([
      { id: note.id, title: null },
    ]);
    expect(await links(note.id)).toMatchObject([{ id: task.id }]);
    await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
    await alice.api.delete(`/notes/${note.id}/purge`);
    expect((await sendBack(alice, { title: 'by Alice' })).references).toMatchObject([
      { id: note.id, title: null },
    ]);
    // A removed reference cannot be added again, neither to this task nor to another one.
    await sendBack(alice, { references: [] });
    const { references } = task;
    for (const [method, path] of [
      ['put', `/tasks/${task.id}`],
      ['post', '/tasks'],
    ] as const) {
      const { status, body } = await alice.api[method](path, { title: 'x', references });
      expect([status, body.details?.[0].code]).toEqual([422, 'unknown_reference']);
    }
  });

  test('lose their links with the folder they are deleted with', async () => {
    const note = await makeNote();
    const { folder } = (await alice.api.post('/task_folders', { name: 'f', members: [dora.id] })).body;
    const { task } = (await alice.api.post(`/notes/${note.id}/task`)).body;
    await alice.api.patch(`/tasks/${task.id}`, { folder_id: folder.id });
    expect(await links(note.id)).toHaveLength(1);
    expect((await alice.api.delete(`/task_folders/${folder.id}?contents=delete`)).status).toBe(200);
    expect(await links(note.id)).toEqual([]);
    await alice.api.post(`/tasks/${task.id}/restore`);
    expect(await links(note.id)).toHaveLength(1);
  });

  test('titles of a page of tasks come in one query', async () => {
    const [eve] = await app.tenant('titles', 'eve');
    for (let n = 0; n < 5; n += 1) {
      const { id } = (await eve.api.post('/notes', { title: `n${n}` })).body.note;
      await eve.api.post(`/notes/${id}/task`);
    }
    // Handlers of earlier events run statements of their own.
    await app.get(OutboxWorker).drain();
    const query = jest.spyOn(app.get<Db>(Db), 'query');
    const { tasks } = (await eve.api.get('/tasks')).body;
    expect(tasks.map((task: any) => task.references[0].title)).toEqual(['n4', 'n3', 'n2', 'n1', 'n0']);
    const names = query.mock.calls.map(([{ name }]) => name).filter((name) => /^tasks\.|^notes\./.test(name));
    query.mockRestore();
    expect(names).toEqual([expect.stringMatching(/^tasks\.list/), 'notes.titles']);
  });
});
