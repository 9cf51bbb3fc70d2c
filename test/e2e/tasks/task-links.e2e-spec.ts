import { TestApp, type TestUser } from '../../support/app.ts';

describe('links between tasks and notes', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
  });
  afterAll(() => app?.stop());

  /** A note of alice that bob may edit and carol may read. */
  const makeNote = async (title: string): Promise<string> => {
    const { id } = (await alice.api.post('/notes', { title })).body.note;
    const invited = [
      { id: bob.id, role: 'editor' },
      { id: carol.id, role: 'viewer' },
    ];
    expect((await alice.api.put(`/notes/${id}/invited`, { invited })).status).toBe(200);
    return id;
  };
  const refs = (...ids: string[]) => ({ references: ids.map((id) => ({ type: 'note', id })) });
  const make = async (user: TestUser, fields: object): Promise<any> => {
    const { status, body } = await user.api.post('/tasks', { title: 't', ...fields });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.task;
  };
  const edit = async (user: TestUser, id: string, fields: object): Promise<any> => {
    const { status, body } = await user.api.patch(`/tasks/${id}`, fields);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.task;
  };
  const links = async (id: string, user = alice): Promise<string[]> =>
    (await user.api.get(`/notes/${id}`)).body.note.links.map((link: any) => link.id);

  test('a task that is created with references to notes is linked by them', async () => {
    const [one, two] = [await makeNote('one'), await makeNote('two')];
    const { cursor } = (await carol.api.get('/notes/changes?limit=500')).body;
    const task = await make(bob, refs(one, two));
    expect([await links(one), await links(two)]).toEqual([[task.id], [task.id]]);
    const { note } = (await alice.api.get(`/notes/${one}`)).body;
    expect([note.revision, note.links[0].title]).toEqual([1, null]);
    const changed = (await carol.api.get(`/notes/changes?cursor=${cursor}`)).body.notes;
    expect(changed.map((record: any) => record.id).toSorted()).toEqual([one, two].toSorted());
    // Rejected creations leave no link behind.
    const rejected = await bob.api.post('/tasks', { id: task.id, title: 't', ...refs(one) });
    expect(rejected.body.error).toBe('already_exists');
    expect(await links(one)).toEqual([task.id]);
  });

  test('adding and removing references adds and removes links', async () => {
    const [one, two] = [await makeNote('one'), await makeNote('two')];
    const { task } = (await bob.api.post(`/notes/${one}/task`, { title: 'x' })).body;
    await edit(bob, task.id, refs(two));
    expect([await links(one), await links(two)]).toEqual([[], [task.id]]);
    await edit(bob, task.id, {
      references: [...refs(two, one).references, { type: 'url', url: 'https://x.example/' }],
    });
    expect([await links(one), await links(two)]).toEqual([[task.id], [task.id]]);
    await edit(bob, task.id, { references: [] });
    expect([await links(one), await links(two)]).toEqual([[], []]);
    // A removed link does not return with the restored task.
    await bob.api.delete(`/tasks/${task.id}`);
    await bob.api.post(`/tasks/${task.id}/restore`);
    expect([await links(one), await links(two)]).toEqual([[], []]);
  });

  test('a task made from a note is linked by the other notes that it refers to', async () => {
    const [one, two] = [await makeNote('one'), await makeNote('two')];
    const unreadable = (await carol.api.post('/notes', { title: 'of carol' })).body.note.id;
    await carol.api.put(`/notes/${unreadable}/invited`, { invited: [{ id: bob.id, role: 'viewer' }] });
    const { cursor } = (await carol.api.get('/notes/changes?limit=500')).body;
    const made = await bob.api.post(`/notes/${one}/task`, { title: 'x', ...refs(two, unreadable) });
    expect(made.status).toBe(201);
    const { id } = made.body.task;
    expect(made.body.task.references.map((reference: any) => reference.id)).toEqual([one, two, unreadable]);
    expect([await links(one), await links(two), await links(unreadable, carol)]).toEqual([[id], [id], []]);
    const changed = (await carol.api.get(`/notes/changes?cursor=${cursor}`)).body.notes;
    expect(changed.map((record: any) => record.id).toSorted()).toEqual([one, two].toSorted());
    await edit(bob, id, refs(one));
    expect([await links(one), await links(two)]).toEqual([[id], []]);
  });

  test('the trash takes every link away and restoring brings it back', async () => {
    const [one, two] = [await makeNote('one'), await makeNote('two')];
    const task = await make(bob, refs(one, two));
    await bob.api.delete(`/tasks/${task.id}`);
    expect([await links(one), await links(two)]).toEqual([[], []]);
    await bob.api.post(`/tasks/${task.id}/restore`);
    expect([await links(one), await links(two)]).toEqual([[task.id], [task.id]]);
  });

  test('a reader of a note refers to it, and the note stays as it is', async () => {
    const note = await makeNote('read only');
    const task = await make(carol, refs(note));
    expect(task.references).toMatchObject([{ id: note, title: 'read only' }]);
    expect(await links(note)).toEqual([]);
    // A second member with edit rights on the note links it by writing the references.
    await edit(carol, task.id, { assignees: [bob.id] });
    await edit(bob, task.id, refs(note));
    expect(await links(note)).toEqual([task.id]);
    await edit(carol, task.id, refs(note));
    expect(await links(note)).toEqual([task.id]);
    await edit(carol, task.id, { references: [] });
    expect(await links(note)).toEqual([]);
  });

  test('the next occurrence of a repeating task is linked too', async () => {
    const note = await makeNote('weekly');
    const { folder } = (await bob.api.post('/task_folders', { name: 'f', members: [carol.id] })).body;
    const task = await make(bob, {
      ...refs(note),
      folder_id: folder.id,
      date: '2026-01-05',
      recurrence: 'FREQ=WEEKLY',
    });
    const { cursor } = (await alice.api.get('/notes/changes?limit=500')).body;
    const { next_task_id: first } = await edit(bob, task.id, { done: true, title: 'renamed' });
    expect(await links(note)).toEqual([task.id, first]);
    const changed = (await alice.api.get(`/notes/changes?cursor=${cursor}`)).body.notes;
    expect(changed.map((record: any) => record.id)).toEqual([note]);
    expect((await carol.api.get(`/tasks/${first}`)).body.task.folder_id).toBe(folder.id);
    // Opened again, the task takes the next one away.
    await edit(bob, task.id, { done: false });
    expect(await links(note)).toEqual([task.id]);
    const { next_task_id: next } = await edit(bob, task.id, { done: true });
    expect(await links(note)).toEqual([task.id, next]);
    const third = (await edit(bob, next, { done: true })).next_task_id;
    await bob.api.delete(`/tasks/${next}`);
    expect(await links(note)).toEqual([task.id, third]);
  });

  test('with an Idempotency-Key the link is written once', async () => {
    const note = await makeNote('once');
    const send = () =>
      bob.api.post('/tasks', { title: 't', ...refs(note) }, { headers: { 'idempotency-key': 'link-once' } });
    const first = await send();
    expect([first.status, (await send()).text]).toEqual([201, first.text]);
    expect(await links(note)).toEqual([first.body.task.id]);
  });

  test('many writers of tasks and notes at once leave each link on both sides', async () => {
    const notes = [await makeNote('a'), await makeNote('b'), await makeNote('c')];
    const tasks: any[] = [];
    for (let n = 0; n < 4; n += 1) tasks.push(await make(n % 2 ? alice : bob, refs(notes[n % 3] as string)));
    const one = (n: number): Promise<unknown> => {
      const user = n % 2 ? alice : bob;
      const task = tasks[(n * 7) % tasks.length];
      const owner = tasks.indexOf(task) % 2 ? alice : bob;
      const chosen = notes.filter((_, i) => (n >> i) % 2 === 0);
      if (n % 5 === 0) return owner.api.delete(`/tasks/${task.id}`);
      if (n % 5 === 1) return owner.api.post(`/tasks/${task.id}/restore`);
      if (n % 5 === 2) return user.api.post('/tasks', { title: `n${n}`, ...refs(...chosen) });
      return owner.api.patch(`/tasks/${task.id}`, { title: `t${n}`, ...refs(...chosen) });
    };
    for (let round = 0; round < 6; round += 1) {
      const responses = await Promise.all(Array.from({ length: 10 }, (_, n) => one(round * 10 + n)));
      for (const response of responses as { status: number }[]) expect(response.status).toBeLessThan(500);
    }
    const broken = await app.sql(
      `WITH linked AS (SELECT note.id AS note, (link->>'id')::uuid AS task FROM notes note, jsonb_array_elements(note.links) AS link),
         wanted AS (SELECT note, task.id AS task FROM tasks task, unnest(task.linked_notes) AS note WHERE task.deleted_at IS NULL)
       SELECT * FROM linked FULL JOIN wanted USING (note, task)
        WHERE (note, task) NOT IN (SELECT * FROM linked) OR (note, task) NOT IN (SELECT * FROM wanted)`,
    );
    expect(broken).toEqual([]);
  });
});
