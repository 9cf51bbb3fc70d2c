import { TestApp, type TestUser } from '../../support/app.ts';
import { copyNote } from '../../support/domains/notes.ts';

describe('note folders', () => {
  let app: TestApp;
  let other: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    other = await TestApp.start({}, app.databaseUrl);
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(async () => {
    await other?.stop();
    await app?.stop();
  });

  const folder = async (fields: object = {}, by = alice): Promise<any> => {
    const { status, body } = await by.api.post('/note_folders', { name: 'Folder', ...fields });
    expect(status).toBe(201);
    return body.folder;
  };
  const note = async (folder_id: string | null, by = alice): Promise<any> =>
    (await by.api.post('/notes', { title: 'n', folder_id })).body.note;
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];
  const field = (response: { body: any }) => response.body.details[0].field;

  test('create, read, list', async () => {
    const { status, headers, body } = await alice.api.post('/note_folders', {
      name: 'Projects 項目',
      color: '#2f80ed',
    });
    expect([status, headers.get('location')]).toEqual([201, `/apis/v1/note_folders/${body.folder.id}`]);
    expect(body.note_folder).toEqual(body.folder);
    expect(body.folder).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Projects 項目',
      parent_id: null,
      position: expect.any(Number),
      color: '#2f80ed',
      note_count: 0,
      revision: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      updated_device: null,
    });
    expect((await alice.api.get(`/note_folders/${body.folder.id}`)).body.folder).toEqual(body.folder);
    const child = await folder({ parent_id: body.folder.id, id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff1001' });
    expect(child.id).toBe('0199aaaa-bbbb-7ccc-8ddd-eeeeffff1001');
    expect(outcome(await bob.api.post('/note_folders', { name: 'x', id: child.id }))).toEqual([
      409,
      'already_exists',
    ]);
    const names = async (query: string) =>
      (await alice.api.get(`/note_folders${query}`)).body.folders.map((f: any) => f.id);
    expect(await names(`?parent_id=${body.folder.id}`)).toEqual([child.id]);
    expect(await names('?parent_id=none')).not.toContain(child.id);
    expect(await names('')).toEqual(expect.arrayContaining([child.id, body.folder.id]));
    expect((await bob.api.get('/note_folders')).body).toEqual({ folders: [], note_folders: [], next: null });
  });

  test('lists in the order of position, in pages', async () => {
    const [carol] = await app.tenant('order', 'carol');
    for (const position of [3, 1, 2]) await folder({ name: `f${position}`, position }, carol);
    const last = await folder({ name: 'last' }, carol);
    expect(last.position).toBe(4);
    await carol.api.patch(`/note_folders/${last.id}`, { position: 1.5 });
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: any = await carol.api.get(`/note_folders?limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.folders.map((f: any) => f.name));
      cursor = body.next;
    }
    expect(seen).toEqual(['f1', 'last', 'f2', 'f3']);
  });

  test.each(['patch', 'put'] as const)('%s changes only the given fields', async (verb) => {
    const parent = await folder();
    const made = await folder({ name: 'old', color: '#000000' });
    const { status, body } = await alice.api[verb](`/note_folders/${made.id}`, {
      name: 'new',
      parent_id: parent.id,
    });
    expect(status).toBe(200);
    expect(body.folder).toMatchObject({ name: 'new', parent_id: parent.id, color: '#000000', revision: 2 });
    expect(
      (await alice.api[verb](`/note_folders/${made.id}`, { parent_id: null, color: null })).body.folder,
    ).toMatchObject({ parent_id: null, color: null });
    expect(outcome(await alice.api[verb](`/note_folders/${made.id}`, { name: 'new' }))).toEqual([
      422,
      'no_changes',
    ]);
  });

  test.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(256) }],
    ['name', { name: null }],
    ['parent_id', { name: 'x', parent_id: 'y' }],
    ['parent_id', { name: 'x', parent_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff9999' }],
    ['position', { name: 'x', position: '1' }],
    ['color', { name: 'x', color: 'red' }],
    ['id', { name: 'x', id: 'y' }],
  ])('rejects an invalid %s: %j', async (name, body) => {
    const response = await alice.api.post('/note_folders', body);
    expect(outcome(response)).toEqual([422, 'validation_failed']);
    expect(field(response)).toBe(name);
  });

  describe('revisions', () => {
    const etag = (id: string, revision: number) => `"note_folder:${id}:r${revision}"`;
    const ifMatch = (tag: string) => ({ headers: { 'If-Match': tag } });

    test('each response with one folder carries its ETag', async () => {
      const posted = await alice.api.post('/note_folders', { name: 'x' });
      const { id } = posted.body.folder;
      expect(posted.headers.get('etag')).toBe(etag(id, 1));
      expect((await alice.api.get(`/note_folders/${id}`)).headers.get('etag')).toBe(etag(id, 1));
      const patched = await alice.api.patch(`/note_folders/${id}`, { name: 'y' });
      expect(patched.headers.get('etag')).toBe(etag(id, 2));
    });

    test.each(['patch', 'put', 'delete'] as const)(
      '%s with a stale revision returns the current folder and changes nothing',
      async (verb) => {
        const { id } = await folder({ name: 'first' });
        await alice.api.patch(`/note_folders/${id}`, { name: 'second' });
        const current = (await alice.api.get(`/note_folders/${id}`)).body.folder;
        const byHeader = await alice.api[verb](
          `/note_folders/${id}`,
          { name: 'third' },
          ifMatch(etag(id, 1)),
        );
        const byBody = await alice.api[verb](`/note_folders/${id}`, { name: 'third', base_revision: 1 });
        for (const stale of [byHeader, byBody]) {
          expect(outcome(stale)).toEqual([409, 'conflict']);
          expect(stale.body).toMatchObject({ revision: 2, folder: current, note_folder: current });
        }
        expect((await alice.api.get(`/note_folders/${id}`)).body.folder).toEqual(current);
        const fresh = await alice.api[verb](`/note_folders/${id}`, { name: 'third' }, ifMatch(etag(id, 2)));
        expect(fresh.status).toBe(200);
      },
    );

    test('an invalid revision is rejected before the body, after "not found"', async () => {
      const { id } = await folder();
      for (const match of ['*', 'x', etag(id, 0), etag('0199aaaa-bbbb-7ccc-8ddd-eeeeffff9999', 1)]) {
        const options = ifMatch(match);
        expect(outcome(await alice.api.patch(`/note_folders/${id}`, { name: 7 }, options))).toEqual([
          422,
          'invalid_revision',
        ]);
        expect((await bob.api.patch(`/note_folders/${id}`, { name: 'x' }, options)).status).toBe(404);
      }
      const both = await alice.api.patch(
        `/note_folders/${id}`,
        { name: 'x', base_revision: 2 },
        ifMatch(etag(id, 1)),
      );
      expect(outcome(both)).toEqual([422, 'invalid_revision']);
    });

    test('of twenty updates with the same revision one succeeds', async () => {
      const { id } = await folder();
      const clients = [alice.api, other.as(alice.token)];
      const updates = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          clients[n % 2]!.patch(`/note_folders/${id}`, { name: `name ${n}`, base_revision: 1 }),
        ),
      );
      expect(updates.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(updates.filter(({ status }) => status === 409)).toHaveLength(19);
      expect((await alice.api.get(`/note_folders/${id}`)).body.folder.revision).toBe(2);
    });
  });

  test('"not found" comes before an invalid body', async () => {
    expect(
      (await alice.api.patch('/note_folders/0199aaaa-bbbb-7ccc-8ddd-eeeeffff9999', { name: 7 })).status,
    ).toBe(404);
    expect(outcome(await alice.api.patch(`/note_folders/${(await folder()).id}`, { name: 7 }))).toEqual([
      422,
      'validation_failed',
    ]);
  });

  test("another user's folder is unknown: as a folder, as a parent and as a place of a note", async () => {
    const { id } = await folder();
    for (const verb of ['get', 'delete'] as const)
      expect((await bob.api[verb](`/note_folders/${id}`)).status).toBe(404);
    expect((await bob.api.patch(`/note_folders/${id}`, { name: 'mine' })).status).toBe(404);
    expect(field(await bob.api.post('/note_folders', { name: 'x', parent_id: id }))).toBe('parent_id');
    expect(field(await bob.api.post('/notes', { folder_id: id }))).toBe('folder_id');
  });

  test('folders nest at most 32 deep, also by moving', async () => {
    let parent: string | null = null;
    const chain: string[] = [];
    for (let n = 0; n < 32; n += 1) {
      parent = (await folder({ parent_id: parent })).id;
      chain.push(parent!);
    }
    expect(outcome(await alice.api.post('/note_folders', { name: 'x', parent_id: parent }))).toEqual([
      422,
      'folder_too_deep',
    ]);
    const tall = await folder();
    await folder({ parent_id: tall.id });
    expect(outcome(await alice.api.patch(`/note_folders/${tall.id}`, { parent_id: chain[30] }))).toEqual([
      422,
      'folder_too_deep',
    ]);
    expect((await alice.api.patch(`/note_folders/${tall.id}`, { parent_id: chain[29] })).status).toBe(200);
  });

  test('a folder cannot be moved into itself or below itself', async () => {
    const a = await folder();
    const b = await folder({ parent_id: a.id });
    const c = await folder({ parent_id: b.id });
    for (const parent_id of [a.id, b.id, c.id]) {
      expect(outcome(await alice.api.patch(`/note_folders/${a.id}`, { parent_id }))).toEqual([
        422,
        'folder_cycle',
      ]);
    }
  });

  test('of two moves that together would create a cycle, one is rejected', async () => {
    for (let round = 0; round < 15; round += 1) {
      const [a, b] = [await folder(), await folder()];
      const responses = await Promise.all([
        alice.api.patch(`/note_folders/${a.id}`, { parent_id: b.id }),
        other.as(alice.token).patch(`/note_folders/${b.id}`, { parent_id: a.id }),
      ]);
      expect(responses.map((response) => response.status).toSorted()).toEqual([200, 422]);
      expect(responses.find((response) => response.status === 422)!.body.error).toBe('folder_cycle');
    }
  });

  describe('placement', () => {
    test('the owner files a note: an ordinary update', async () => {
      const { id } = await folder();
      const made = await note(null);
      const { body } = await alice.api.patch(`/notes/${made.id}`, { folder_id: id, base_revision: 1 });
      expect(body.note).toMatchObject({ folder_id: id, revision: 2 });
      expect((await alice.api.get(`/notes?folder_id=${id}`)).body.notes).toHaveLength(1);
      expect((await alice.api.get(`/note_folders/${id}`)).body.folder.note_count).toBe(1);
      expect(
        (await alice.api.patch(`/notes/${made.id}`, { folder_id: null, base_revision: 2 })).body.note
          .folder_id,
      ).toBeNull();
    });

    test('an invited user files the note in a folder of their own, without a revision', async () => {
      const mine = await folder();
      const theirs = await folder({}, bob);
      const made = await note(mine.id);
      await alice.api.put(`/notes/${made.id}/invited`, { invited: [bob.id] });
      expect((await bob.api.get(`/notes/${made.id}`)).body.note.folder_id).toBeNull();
      const { status, body } = await bob.api.patch(`/notes/${made.id}`, {
        folder_id: theirs.id,
        base_revision: 1,
      });
      expect([status, body.note.folder_id, body.note.revision]).toEqual([200, theirs.id, 1]);
      expect((await alice.api.get(`/notes/${made.id}`)).body.note).toMatchObject({
        folder_id: mine.id,
        revision: 1,
      });
      expect(
        outcome(
          await bob.api.patch(`/notes/${made.id}`, { folder_id: theirs.id, title: 'x', base_revision: 1 }),
        ),
      ).toEqual([403, 'forbidden']);
      expect(field(await bob.api.patch(`/notes/${made.id}`, { folder_id: mine.id, base_revision: 1 }))).toBe(
        'folder_id',
      );
    });
  });

  describe('delete', () => {
    test('moves notes and subfolders up', async () => {
      const top = await folder();
      const middle = await folder({ parent_id: top.id });
      const bottom = await folder({ parent_id: middle.id });
      const filed = await note(middle.id);
      const { status, body } = await alice.api.delete(`/note_folders/${middle.id}`);
      expect([status, body.deleted, body.folder.id]).toEqual([200, true, middle.id]);
      expect((await alice.api.get(`/note_folders/${middle.id}`)).status).toBe(404);
      expect((await alice.api.get(`/note_folders/${bottom.id}`)).body.folder.parent_id).toBe(top.id);
      expect((await alice.api.get(`/notes/${filed.id}`)).body.note).toMatchObject({
        folder_id: top.id,
        revision: 1,
        deleted: false,
      });
      expect((await alice.api.delete(`/note_folders/${middle.id}`)).status).toBe(404);
      await alice.api.delete(`/note_folders/${top.id}`);
      expect((await alice.api.get(`/notes/${filed.id}`)).body.note.folder_id).toBeNull();
    });

    test('contents=trash: own notes go to the trash with the subfolders, notes of others only leave the folder', async () => {
      const top = await folder();
      const below = await folder({ parent_id: top.id });
      const [mine, deep] = [await note(top.id), await note(below.id)];
      const foreign = await note(null, bob);
      await bob.api.put(`/notes/${foreign.id}/invited`, { invited: [alice.id] });
      await alice.api.patch(`/notes/${foreign.id}`, { folder_id: below.id, base_revision: 1 });
      await alice.api.put(`/notes/${mine.id}/invited`, { invited: [bob.id] });
      const { status } = await alice.api.delete(`/note_folders/${top.id}?contents=trash`);
      expect(status).toBe(200);
      for (const id of [mine.id, deep.id]) {
        expect((await alice.api.get(`/notes/${id}`)).body.note).toMatchObject({
          deleted: true,
          folder_id: null,
          revision: 1,
          purge_at: expect.any(String),
        });
      }
      expect((await bob.api.get('/notes?state=trash')).body.notes.map((n: any) => n.id)).toEqual([mine.id]);
      expect((await alice.api.get(`/notes/${foreign.id}`)).body.note).toMatchObject({
        deleted: false,
        folder_id: null,
      });
      expect((await alice.api.get(`/note_folders/${below.id}`)).status).toBe(404);
      const [{ unique, total }] = await app.sql(
        'SELECT count(DISTINCT seq)::int AS unique, count(*)::int AS total FROM note_members WHERE user_id = $1',
        [alice.id],
      );
      expect(unique).toBe(total);
    });

    test.each(['move_up', 'trash'])('contents=%s: many notes in several transactions', async (contents) => {
      const [dora, emil] = await app.tenant(`many-${contents.replace('_', '-')}`, 'dora', 'emil');
      const top = await folder({}, dora);
      const { id } = await folder({ parent_id: top.id }, dora);
      const foreign = await note(null, emil);
      await emil.api.put(`/notes/${foreign.id}/invited`, { invited: [dora.id] });
      await dora.api.patch(`/notes/${foreign.id}`, { folder_id: id, base_revision: 1 });
      await note(id, dora);
      await copyNote(app, dora, 2_499);
      const before = (await dora.api.get(`/note_folders/${id}`)).body.folder;
      expect(before.note_count).toBe(2501);
      const { status, body } = await dora.api.delete(`/note_folders/${id}?contents=${contents}`, {
        base_revision: before.revision,
      });
      expect([status, body.deleted, body.folder]).toEqual([200, true, before]);
      const batches = await app.sql(
        `SELECT count(*)::int FROM note_members WHERE user_id = $1 GROUP BY xmin::text ORDER BY count`,
        [dora.id],
      );
      expect(batches.map(({ count }) => count)).toEqual([501, 1_000, 1_000]);
      const placed = await app.sql(
        `SELECT folder_id, role, trashed, count(*)::int, count(DISTINCT seq)::int AS numbers FROM note_members
          WHERE user_id = $1 GROUP BY folder_id, role, trashed ORDER BY count`,
        [dora.id],
      );
      const isTrash = contents === 'trash';
      expect(
        placed.map(({ folder_id, trashed, count, numbers }) => [folder_id, trashed, count, numbers]),
      ).toEqual([
        [isTrash ? null : top.id, false, 1, 1],
        [isTrash ? null : top.id, isTrash, 2500, 2500],
      ]);
      expect((await dora.api.get(`/note_folders/${id}`)).status).toBe(404);
    });

    test('rejects an unknown value of contents', async () => {
      expect(field(await alice.api.delete(`/note_folders/${(await folder()).id}?contents=burn`))).toBe(
        'contents',
      );
    });

    test('races of filing and deleting never leave a note in a deleted folder', async () => {
      for (let round = 0; round < 20; round += 1) {
        const target = await folder();
        const made = await note(null);
        const contents = round % 2 ? '?contents=trash' : '';
        await Promise.all([
          alice.api.patch(`/notes/${made.id}`, { folder_id: target.id, base_revision: 1 }),
          other.as(alice.token).delete(`/note_folders/${target.id}${contents}`),
          other.as(alice.token).post('/notes', { title: 'new', folder_id: target.id }),
        ]);
        const lost = await app.sql(
          'SELECT 1 FROM note_members m JOIN note_folders f ON f.id = m.folder_id AND f.tenant_id = m.tenant_id WHERE f.gone_at IS NOT NULL',
        );
        expect(lost).toEqual([]);
      }
    });
  });
});
