import { TestApp, type TestUser } from '../../support/app.ts';

describe('links of notes to tasks', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
  });
  afterAll(() => app?.stop());

  const shared = async (title: string): Promise<string> => {
    const { id } = (await alice.api.post('/notes', { title })).body.note;
    const invited = [
      { id: bob.id, role: 'editor' },
      { id: carol.id, role: 'viewer' },
    ];
    expect((await alice.api.put(`/notes/${id}/invited`, { invited })).status).toBe(200);
    return id;
  };
  const links = async (user: TestUser, id: string): Promise<any[]> =>
    (await user.api.get(`/notes/${id}`)).body.note.links;

  test('a reader of the note that cannot read the task sees no title, wherever the note appears', async () => {
    const id = await shared('plan');
    const { task, note } = (
      await bob.api.post(`/notes/${id}/task`, { title: 'secret raise', assignees: [{ id: bob.id }] })
    ).body;
    const link = { type: 'task', id: task.id, created_at: expect.stringMatching(/Z$/) };
    expect(note.links).toEqual([{ ...link, title: 'secret raise' }]);
    for (const reader of [alice, carol]) {
      expect(await links(reader, id)).toEqual([{ ...link, title: null }]);
      for (const path of ['/notes', '/notes/index', '/notes/changes', '/search/notes?q=plan'])
        expect((await reader.api.get(path)).text).not.toContain('secret raise');
    }
    const { share } = (await alice.api.post(`/notes/${id}/share`)).body.note;
    const [dave] = await app.tenant('acme', 'dave');
    const visited = await dave.api.get(`/notes/${id}?share_token=${share.token}`);
    expect(visited.body.note.links).toEqual([{ ...link, title: null }]);
    await bob.api.patch(`/tasks/${task.id}`, {
      assignees: [{ id: bob.id }, { id: carol.id }],
      base_revision: task.revision,
    });
    expect((await links(carol, id))[0].title).toBe('secret raise');
    expect((await links(alice, id))[0].title).toBeNull();
  });

  test('a link has the current title of its task and disappears with it', async () => {
    const id = await shared('renamed');
    const { task } = (await alice.api.post(`/notes/${id}/task`, { title: 'first' })).body;
    const { cursor } = (await alice.api.get('/notes/changes')).body;
    const renamed = await alice.api.patch(`/tasks/${task.id}`, {
      title: 'second',
      base_revision: task.revision,
    });
    expect(renamed.status).toBe(200);
    const { notes } = (await alice.api.get(`/notes/changes?cursor=${cursor}`)).body;
    expect(notes.map((note: any) => note.links[0].title)).toEqual(['second']);
    await alice.api.delete(`/tasks/${task.id}`);
    expect(await links(alice, id)).toEqual([]);
    await alice.api.post(`/tasks/${task.id}/restore`);
    expect((await links(alice, id)).map(({ title }) => title)).toEqual(['second']);
    expect((await alice.api.get(`/notes/${id}`)).body.note.revision).toBe(1);
  });
});
