import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { inDatabase } from '../../support/database/database.ts';
import { session } from '../../support/sign-in/account.ts';
import { TestApp, type TestUser } from '../../support/app.ts';

describe('the transfer of notes to another member', () => {
  let app: TestApp;
  let owner: TestUser;
  let leaver: TestUser;
  let heir: TestUser;
  let reader: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner, leaver, heir, reader] = await app.tenant('acme', 'owner', 'leaver', 'heir', 'reader');
  });
  afterAll(() => app?.stop());

  const reactivate = async () => {
    await owner.api.post(`/tenant/members/${leaver.id}/activate`);
    // The sessions ended with the membership.
    leaver = await session(app, leaver);
  };
  const create = async (title: string): Promise<string> =>
    (await leaver.api.post('/notes', { title, content: '<p>kept</p>' })).body.note.id;
  const cursorOf = async (user: TestUser) => (await user.api.get('/notes/changes?limit=500')).body.cursor;
  const since = async (user: TestUser, cursor: string): Promise<any[]> =>
    (await user.api.get(`/notes/changes?cursor=${cursor}`)).body.notes;

  test('gives the new owner all notes with history and trash; invited members stay, share links end', async () => {
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
    await reactivate();
    expect((await leaver.api.get('/notes?state=all')).body.notes).toEqual([]);
    const removals = await since(leaver, cursors[2]);
    expect(removals.map(({ removed, reason }: any) => [removed, reason])).toEqual(
      Array.from({ length: 3 }, () => [true, 'unshared']),
    );
  });

  test('is no invitation: the new owner is not notified of each note', async () => {
    await heir.api.put('/notifications/read_all');
    const invited = { invited: [{ id: reader.id }] };
    const shared = await create('an invitation');
    await leaver.api.put(`/notes/${shared}/invited`, invited);
    await create('a transferred note');
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
    await app.get<OutboxWorker>(OutboxWorker).drain();
    const typesOf = async ({ api }: TestUser): Promise<string[]> =>
      (await api.get('/notifications?unread=true')).body.notifications.map(({ type }: any) => type);
    expect(await typesOf(reader)).toContain('note.shared');
    expect(await typesOf(heir)).not.toContain('note.shared');
    await reactivate();
  });

  test('the former owner no longer finds them', async () => {
    const id = await create('Quartalsbericht');
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    expect((await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id })).status).toBe(200);
    await reactivate();
    expect((await leaver.api.get('/search/notes?q=quartalsbericht')).body.notes).toEqual([]);
    expect((await heir.api.get(`/notes/${id}`)).body.role).toBe('owner');
  });

  test('note folders move with their notes; notes of others leave the folders', async () => {
    const folder = async (user: TestUser, fields: object) =>
      (await user.api.post('/note_folders', fields)).body.folder.id as string;
    await folder(heir, { name: 'mine', position: 3 });
    const [second, first] = [
      await folder(leaver, { name: 'second', position: 2 }),
      await folder(leaver, { name: 'first', position: 1 }),
    ];
    const inner = await folder(leaver, { name: 'inner', parent_id: first });
    const own = await create('own');
    await leaver.api.patch(`/notes/${own}`, { folder_id: inner, base_revision: 1 });
    const placed = await create('placed by the heir');
    await leaver.api.put(`/notes/${placed}/invited`, { invited: [{ id: heir.id, role: 'viewer' }] });
    await leaver.api.patch(`/notes/${placed}`, { folder_id: second, base_revision: 1 });
    const target = await folder(heir, { name: 'target' });
    const placing = await heir.api.patch(`/notes/${placed}`, { folder_id: target, base_revision: 2 });
    expect([placing.status, placing.body.error]).toEqual([200, undefined]);
    const foreign = (await reader.api.post('/notes', { title: 'of another member' })).body.note.id;
    await reader.api.put(`/notes/${foreign}/invited`, { invited: [{ id: leaver.id, role: 'viewer' }] });
    expect(
      (await leaver.api.patch(`/notes/${foreign}`, { folder_id: second, base_revision: 1 })).status,
    ).toBe(200);
    const cursors = [
      (await heir.api.get('/note_folders/changes')).body.cursor,
      (await leaver.api.get('/note_folders/changes')).body.cursor,
      await cursorOf(leaver),
    ];
    await owner.api.post(`/tenant/members/${leaver.id}/deactivate`);
    const moved = await owner.api.post(`/tenant/members/${leaver.id}/transfer`, { to: heir.id });
    expect(moved.body.transferred).toMatchObject({ note_folders: 3, notes: 2 });
    await reactivate();

    const { note_folders: folders } = (await heir.api.get(`/note_folders/changes?cursor=${cursors[0]}`)).body;
    expect(folders.map((each: any) => [each.id, each.parent_id, each.revision])).toEqual([
      [first, null, 2],
      [inner, first, 2],
      [second, null, 2],
    ]);
    const listed = (await heir.api.get('/note_folders?parent_id=none')).body.note_folders;
    expect(listed.map((each: any) => each.name)).toEqual(['mine', 'target', 'first', 'second']);
    expect((await heir.api.get(`/notes/${own}`)).body.note).toMatchObject({
      folder_id: inner,
      role: 'owner',
    });
    expect((await heir.api.get(`/notes/${placed}`)).body.note).toMatchObject({
      folder_id: target,
      role: 'owner',
    });
    expect((await heir.api.get(`/note_folders/${inner}`)).body.folder.note_count).toBe(1);

    expect((await leaver.api.get(`/note_folders/changes?cursor=${cursors[1]}`)).status).toBe(410);
    expect((await leaver.api.get('/note_folders/index')).body.note_folders).toEqual([]);
    const changed = await since(leaver, cursors[2] as string);
    expect(changed.find((each) => each.id === foreign)).toMatchObject({ folder_id: null });
  });

  test('many notes are given in several statements, each well within its time limit', async () => {
    const many = await app.member('acme', 'many@acme.example');
    for (let n = 0; n < 501; n += 1) await many.api.post('/notes', { title: `${n}` });
    await owner.api.post(`/tenant/members/${many.id}/deactivate`);
    const url = await app.databaseOf(many.tenantId!);
    await inDatabase(
      url,
      `CREATE TABLE statements (at timestamptz PRIMARY KEY);
       CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
         INSERT INTO statements VALUES (statement_timestamp()) ON CONFLICT DO NOTHING;
         RETURN NULL;
       END $$;
       CREATE TRIGGER note_statement AFTER UPDATE ON notes EXECUTE FUNCTION note_statement()`,
    );
    try {
      const { body } = await owner.api.post(`/tenant/members/${many.id}/transfer`, { to: reader.id });
      expect(body.transferred.notes).toBe(501);
      expect(await inDatabase(url, 'SELECT FROM statements')).toHaveLength(2);
    } finally {
      await inDatabase(
        url,
        'DROP TRIGGER note_statement ON notes; DROP FUNCTION note_statement(); DROP TABLE statements',
      );
    }
  });
});
