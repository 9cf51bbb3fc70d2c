import { TestApp, type Person } from '../../support/app.ts';

describe('the transfer of notes to another member', () => {
  let app: TestApp;
  let owner: Person;
  let leaver: Person;
  let heir: Person;
  let reader: Person;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner, leaver, heir, reader] = (await app.tenant('acme', 'owner', 'leaver', 'heir', 'reader')) as [
      Person,
      Person,
      Person,
      Person,
    ];
  });
  afterAll(() => app?.stop());

  const create = async (title: string): Promise<string> =>
    (await leaver.api.post('/notes', { title, content: '<p>kept</p>' })).body.note.id;
  const cursorOf = async (person: Person) => (await person.api.get('/notes/changes?limit=500')).body.cursor;
  const since = async (person: Person, cursor: string): Promise<any[]> =>
    (await person.api.get(`/notes/changes?cursor=${cursor}`)).body.notes;

  test('gives the heir all notes with history and trash; invited members stay, share links end', async () => {
    const [shared, linked, trashed] = [
      await create('shared'),
      await create('linked'),
      await create('trashed'),
    ];
    const invited = [
      { id: heir.id, role: 'viewer' },
      { id: reader.id, role: 'editor' },
    ];
    await leaver.api.put(`/notes/${shared}/invited`, { invited });
    const { token } = (await leaver.api.post(`/notes/${linked}/share`)).body.note.share;
    await leaver.api.delete(`/notes/${trashed}`, { base_revision: 1 });
    const cursors = await Promise.all([heir, reader, leaver].map(cursorOf));
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    const moved = await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
    expect(moved.status).toBe(200);
    const notes = await since(heir, cursors[0]);
    expect(notes).toMatchObject([
      { id: shared, role: 'owner', owner: { id: heir.id }, revision: 1, content: '<p>kept</p>' },
      { id: linked, role: 'owner', share: null },
      { id: trashed, role: 'owner', deleted: true },
    ]);
    expect(notes[0].invited).toMatchObject([{ id: reader.id, role: 'editor' }]);
    expect(await since(reader, cursors[1])).toMatchObject([
      { id: shared, role: 'editor', owner: { id: heir.id } },
    ]);
    expect((await reader.api.get(`/notes/${linked}?share_token=${token}`)).status).toBe(404);
    expect((await heir.api.patch(`/notes/${shared}`, { title: 'mine', base_revision: 1 })).status).toBe(200);
    expect((await heir.api.post(`/notes/${trashed}/restore`)).status).toBe(200);
    expect(
      (await heir.api.get(`/notes/${shared}/revisions`)).body.revisions.map((r: any) => r.author.id),
    ).toEqual([heir.id, leaver.id]);
    await owner.api.post(`/tenant/members/${leaver.id}/activate`);
    expect((await leaver.api.get('/notes?state=all')).body.notes).toEqual([]);
    const removals = await since(leaver, cursors[2]);
    expect(removals.map(({ removed, reason }: any) => [removed, reason])).toEqual(
      Array.from({ length: 3 }, () => [true, 'unshared']),
    );
  });

  test('the former owner no longer finds them', async () => {
    const id = await create('Quartalsbericht');
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    expect((await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id })).status).toBe(200);
    await owner.api.post(`/tenant/members/${leaver.id}/activate`);
    expect((await leaver.api.get('/search/notes?q=quartalsbericht')).body.notes).toEqual([]);
    expect((await heir.api.get(`/notes/${id}`)).body.role).toBe('owner');
  });
});
