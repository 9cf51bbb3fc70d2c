import { TestApp, type TestUser } from '../../support/app.ts';

describe('sharing a note', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;
  let mallory: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob, carol] = await app.tenant('acme', 'alice', 'bob', 'carol');
    [mallory] = await app.tenant('evil', 'mallory');
  });
  afterAll(() => app?.stop());

  const make = async (fields: object = { title: 'Shared', content: '<p>x</p>' }): Promise<string> =>
    (await alice.api.post('/notes', fields)).body.note.id;
  const invite = (id: string, invited: unknown[], by = alice) =>
    by.api.put(`/notes/${id}/invited`, { invited });
  const outcome = ({ status, body }: { status: number; body: any }) => [status, body.error];

  describe('invited members', () => {
    test('see the note in their role, listed in the order given', async () => {
      const id = await make();
      const { status, headers, body } = await invite(id, [
        { user_id: carol.id, role: 'editor' },
        bob.email.toUpperCase(),
      ]);
      expect(status).toBe(200);
      expect(headers.get('etag')).toBe(`"note:${id}:r1"`);
      const at = expect.stringMatching(/Z$/);
      expect(body.note.invited).toEqual([
        {
          user_id: carol.id,
          id: carol.id,
          email: carol.email,
          name: 'Carol',
          role: 'editor',
          invited_at: at,
        },
        { user_id: bob.id, id: bob.id, email: bob.email, name: 'Bob', role: 'viewer', invited_at: at },
      ]);
      expect((await bob.api.get(`/notes/${id}`)).body).toMatchObject({
        role: 'viewer',
        note: { role: 'viewer', share: null, owner: { id: alice.id } },
      });
      expect((await carol.api.get(`/notes/${id}`)).body.role).toBe('editor');
      const shared = (await bob.api.get('/notes?scope=shared')).body.notes;
      expect(shared.map((note: any) => note.id)).toContain(id);
      expect((await bob.api.get('/notes?scope=mine')).body.notes).toEqual([]);
    });

    test('each role allows its own operations only', async () => {
      const id = await make();
      await invite(id, [
        { id: bob.id, role: 'viewer' },
        { email: carol.email, role: 'editor' },
      ]);
      const attempts = (api: TestUser['api'], revision: number) => [
        () => api.get(`/notes/${id}`),
        () => api.get(`/notes/${id}/revisions`),
        () => api.get(`/notes/${id}/revisions/1`),
        () => api.patch(`/notes/${id}`, { title: `by ${revision}`, base_revision: revision }),
        () => api.delete(`/notes/${id}`, { base_revision: 1 }),
        () => api.post(`/notes/${id}/restore`),
        () => api.delete(`/notes/${id}/purge`),
        () => api.post(`/notes/${id}/share`, {}),
        () => api.post(`/notes/${id}/share/regenerate`),
        () => api.delete(`/notes/${id}/share`),
        () => api.put(`/notes/${id}/invited`, { invited: [] }),
      ];
      const statuses = async (user: TestUser, revision: number) => {
        const result: number[] = [];
        for (const attempt of attempts(user.api, revision)) result.push((await attempt()).status);
        return result;
      };
      expect(await statuses(bob, 1)).toEqual([200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403]);
      expect(await statuses(carol, 1)).toEqual([200, 200, 200, 200, 403, 403, 403, 403, 403, 403, 403]);
      expect(await statuses(mallory, 1)).toEqual(Array.from({ length: 11 }, () => 404));
    });

    test('forbidden comes before an invalid revision and body', async () => {
      const id = await make();
      await invite(id, [bob.id]);
      expect(outcome(await bob.api.patch(`/notes/${id}`, { title: 7 }))).toEqual([403, 'forbidden']);
      expect(outcome(await bob.api.delete(`/notes/${id}`))).toEqual([403, 'forbidden']);
      expect(outcome(await bob.api.put(`/notes/${id}/invited`, { invited: 7 }))).toEqual([403, 'forbidden']);
      expect(outcome(await bob.api.post(`/notes/${id}/share`, { role: 7 }))).toEqual([403, 'forbidden']);
    });

    test('the list is replaced: a removed member sees nothing more', async () => {
      const id = await make();
      await invite(id, [bob.id, carol.id]);
      const { body } = await invite(id, [{ id: carol.id, role: 'editor' }]);
      expect(body.note.invited.map((user: any) => [user.id, user.role])).toEqual([[carol.id, 'editor']]);
      expect((await bob.api.get(`/notes/${id}`)).status).toBe(404);
      expect((await bob.api.get('/notes')).body.notes.map((note: any) => note.id)).not.toContain(id);
      expect((await carol.api.patch(`/notes/${id}`, { title: 'now', base_revision: 1 })).status).toBe(200);
      await invite(id, [bob.id]);
      expect((await bob.api.get(`/notes/${id}`)).body.role).toBe('viewer');
      expect((await invite(id, [])).body.note.invited).toEqual([]);
    });

    test('the owner in the list is ignored, repetitions count once, the same list is no change', async () => {
      const id = await make();
      await invite(id, [alice.id, bob.id, { id: bob.id, role: 'editor' }, bob.email]);
      const first = (await alice.api.get(`/notes/${id}`)).body.note;
      expect(first.invited.map((user: any) => [user.id, user.role])).toEqual([[bob.id, 'viewer']]);
      const head = async () =>
        (await app.sql('SELECT head::int FROM sync_heads WHERE user_id = $1', [bob.id]))[0].head;
      const before = await head();
      expect((await invite(id, [bob.id])).body.note).toEqual(first);
      expect(await head()).toBe(before);
    });

    test('an invited member can only leave', async () => {
      const id = await make();
      await invite(id, [bob.id, carol.id]);
      expect(outcome(await invite(id, [bob.id], bob))).toEqual([403, 'forbidden']);
      expect(outcome(await invite(id, [], bob))).toEqual([403, 'forbidden']);
      expect(outcome(await invite(id, [carol.id, alice.id], bob))).toEqual([200, undefined]);
      expect((await bob.api.get(`/notes/${id}`)).status).toBe(404);
      const { note } = (await alice.api.get(`/notes/${id}`)).body;
      expect(note.invited.map((user: any) => [user.id, user.role])).toEqual([[carol.id, 'viewer']]);
    });

    test.each([
      ['no list', {}, 'is_array'],
      ['not a list', { invited: 'bob' }, 'is_array'],
      ['a number', { invited: [7] }, 'nested_validation'],
      ['null', { invited: [null] }, 'nested_validation'],
      ['an unknown role', { invited: [{ email: 'bob@acme.example', role: 'owner' }] }, 'is_in'],
      ['nobody', { invited: [{ role: 'viewer' }] }, 'is_not_empty'],
      ['an empty text', { invited: [''] }, 'is_not_empty'],
      ['no id', { invited: [{ id: 'x' }] }, 'is_uuid'],
      [
        'too many',
        { invited: Array.from({ length: 201 }, (_, n) => `p${n}@acme.example`) },
        'array_max_size',
      ],
    ])('rejects %s', async (_, body, code) => {
      const id = await make();
      const response = await alice.api.put(`/notes/${id}/invited`, body);
      expect(outcome(response)).toEqual([422, 'validation_failed']);
      expect(response.body.details[0].code).toBe(code);
    });

    test('members of other workspaces are unknown, and named by their position', async () => {
      const id = await make();
      const response = await invite(id, [
        bob.id,
        mallory.id,
        mallory.email,
        '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000',
      ]);
      expect(outcome(response)).toEqual([422, 'unknown_user']);
      expect(response.body.details.map((detail: any) => detail.field)).toEqual([
        'invited.1',
        'invited.2',
        'invited.3',
      ]);
      expect((await bob.api.get(`/notes/${id}`)).status).toBe(404);
    });

    test('a trashed note can be neither shared nor invited to', async () => {
      const id = await make();
      await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      expect(outcome(await invite(id, [bob.id]))).toEqual([409, 'deleted']);
      expect(outcome(await alice.api.post(`/notes/${id}/share`))).toEqual([409, 'deleted']);
    });

    test('two hundred members', async () => {
      const crowd = await app.tenant('crowd', 'owner', ...Array.from({ length: 200 }, (_, n) => `p${n}`));
      const [owner, ...rest] = crowd;
      const { id } = (await owner.api.post('/notes', { title: 'all hands' })).body.note;
      const { status, body } = await owner.api.put(`/notes/${id}/invited`, {
        invited: rest.map((user) => user.id),
      });
      expect([status, body.note.invited.length]).toEqual([200, 200]);
      expect((await owner.api.patch(`/notes/${id}`, { title: 'x', base_revision: 1 })).status).toBe(200);
      expect((await rest[199]!.api.get('/notes')).body.notes[0].title).toBe('x');
    });
  });

  describe('the share link', () => {
    const share = async (id: string, body?: object): Promise<any> =>
      (await alice.api.post(`/notes/${id}/share`, body)).body.note.share;

    test('lets only members of the workspace read', async () => {
      const id = await make();
      const link = await share(id);
      expect(link).toEqual({
        url: `/apis/v1/notes/${id}?share_token=${link.token}`,
        token: expect.stringMatching(/^[\w-]{32}$/),
        role: 'viewer',
        expires_at: null,
        created_at: expect.stringMatching(/Z$/),
      });
      const { status, body } = await bob.api.get(link.url.replace('/apis/v1', ''));
      expect(status).toBe(200);
      expect(body).toMatchObject({
        role: 'viewer',
        note: { id, role: 'viewer', content: '<p>x</p>', share: null, invited: [], folder_id: null },
      });
      expect((await mallory.api.get(link.url.replace('/apis/v1', ''))).status).toBe(404);
      expect((await app.anonymous.get(link.url.replace('/apis/v1', ''))).status).toBe(401);
      expect((await bob.api.get(`/notes/${id}`)).status).toBe(404);
      expect((await bob.api.get(`/notes/${id}?share_token=${link.token}x`)).status).toBe(404);
      expect((await bob.api.get('/notes')).body.notes.map((note: any) => note.id)).not.toContain(id);
    });

    test('an editor link lets them write, a viewer link does not', async () => {
      const id = await make();
      const link = await share(id, { role: 'editor' });
      const path = `/notes/${id}?share_token=${link.token}`;
      const response = await bob.api.patch(path, { title: 'by link', base_revision: 1 });
      expect(response.status).toBe(200);
      expect(response.body.note).toMatchObject({
        title: 'by link',
        role: 'editor',
        revision: 2,
        updated_by: bob.id,
      });
      // A visitor has no placement. Responses show null, which a request may repeat.
      const { folder } = (await bob.api.post('/note_folders', { name: 'Own' })).body;
      expect(outcome(await bob.api.patch(path, { folder_id: folder.id, base_revision: 2 }))).toEqual([
        403,
        'forbidden',
      ]);
      const { note } = (await bob.api.get(path)).body;
      const sentBack = await bob.api.put(path, { ...note, title: 'sent back', base_revision: 2 });
      expect([sentBack.status, sentBack.body.note?.title]).toEqual([200, 'sent back']);
      expect(outcome(await bob.api.patch(path, { folder_id: null, base_revision: 3 }))).toEqual([
        422,
        'no_changes',
      ]);
      expect((await share(id, { role: 'viewer' })).token).toBe(link.token);
      for (const fields of [{ title: 'again' }, { folder_id: null }])
        expect(outcome(await bob.api.patch(path, { ...fields, base_revision: 3 }))).toEqual([
          403,
          'forbidden',
        ]);
      expect((await bob.api.patch(`/notes/${id}`, { title: 'again', base_revision: 3 })).status).toBe(404);
    });

    test('the higher of link and invitation counts', async () => {
      const id = await make();
      await invite(id, [bob.id]);
      const link = await share(id, { role: 'editor' });
      expect((await bob.api.get(`/notes/${id}`)).body.role).toBe('viewer');
      expect((await bob.api.get(`/notes/${id}?share_token=${link.token}`)).body.role).toBe('editor');
      // Responses by the link do not show the placement of the member. Sent back, they keep it.
      const { folder } = (await bob.api.post('/note_folders', { name: 'Own' })).body;
      await bob.api.patch(`/notes/${id}`, { folder_id: folder.id, base_revision: 1 });
      const path = `/notes/${id}?share_token=${link.token}`;
      const { note } = (await bob.api.get(path)).body;
      const sentBack = await bob.api.put(path, { ...note, title: 'sent back', base_revision: 1 });
      expect(sentBack.body.note).toMatchObject({ title: 'sent back', folder_id: folder.id });
      await share(id, { role: 'viewer' });
      const { body } = await bob.api.get(`/notes/${id}?share_token=${link.token}`);
      expect([body.role, body.note.invited.length]).toEqual(['viewer', 1]);
      expect((await alice.api.get(`/notes/${id}?share_token=${link.token}`)).body.role).toBe('owner');
    });

    test('expiry is judged when the link is used', async () => {
      const id = await make();
      const link = await share(id, { expires_at: '2999-01-01T00:00:00+02:00' });
      expect(link.expires_at).toBe('2998-12-31T22:00:00.000Z');
      const path = `/notes/${id}?share_token=${link.token}`;
      expect((await bob.api.get(path)).status).toBe(200);
      await app.sql(
        `UPDATE notes SET share_expires_at = now() - interval '1 second', share_role = 'editor' WHERE id = $1`,
        [id],
      );
      expect((await bob.api.get(path)).status).toBe(404);
      expect((await bob.api.patch(path, { title: 'late', base_revision: 1 })).status).toBe(404);
    });

    test('regenerating invalidates the old token, revoking invalidates it for good', async () => {
      const id = await make();
      expect(outcome(await alice.api.post(`/notes/${id}/share/regenerate`))).toEqual([404, 'not_shared']);
      const old = await share(id, { role: 'editor', expires_at: '2999-01-01T00:00:00Z' });
      const { share: fresh } = (await alice.api.post(`/notes/${id}/share/regenerate`)).body.note;
      expect(fresh).toMatchObject({ role: 'editor', expires_at: old.expires_at });
      expect(fresh.token).not.toBe(old.token);
      expect((await bob.api.get(`/notes/${id}?share_token=${old.token}`)).status).toBe(404);
      expect((await bob.api.get(`/notes/${id}?share_token=${fresh.token}`)).status).toBe(200);
      for (let n = 0; n < 2; n += 1)
        expect((await alice.api.delete(`/notes/${id}/share`)).body.note.share).toBeNull();
      expect((await bob.api.get(`/notes/${id}?share_token=${fresh.token}`)).status).toBe(404);
    });

    test('does not open the trash', async () => {
      const id = await make();
      const link = await share(id, { role: 'editor' });
      await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      const path = `/notes/${id}?share_token=${link.token}`;
      expect((await bob.api.get(path)).status).toBe(404);
      expect((await bob.api.patch(path, { title: 'x', base_revision: 1 })).status).toBe(404);
    });

    test.each([
      [{ role: 'owner' }, 'role'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ expires_at: 'tomorrow' }, 'expires_at'],
      [{ expires_at: '2999-02-30T00:00:00Z' }, 'expires_at'],
      [{ expires_at: 5 }, 'expires_at'],
    ])('rejects %j', async (body, field) => {
      const response = await alice.api.post(`/notes/${await make()}/share`, body);
      expect(outcome(response)).toEqual([422, 'validation_failed']);
      expect(response.body.details[0].field).toBe(field);
    });

    test('a share token is not accepted in a list or as a bearer token', async () => {
      const link = await share(await make());
      expect((await app.as(link.token).get('/notes')).status).toBe(401);
      expect((await bob.api.get('/notes?share_token=')).status).toBe(200);
      expect((await bob.api.get(`/notes/${await make()}?share_token=`)).status).toBe(422);
    });
  });

  test('sharing takes no revision', async () => {
    const id = await make();
    await invite(id, [bob.id]);
    await alice.api.post(`/notes/${id}/share`);
    expect((await alice.api.get(`/notes/${id}`)).body.note.revision).toBe(1);
    expect((await alice.api.get(`/notes/${id}/revisions`)).body.revisions).toHaveLength(1);
  });

  test('every member gets the next feed number, a removed member a removal without content', async () => {
    const id = await make();
    await invite(id, [bob.id, carol.id]);
    await invite(id, [carol.id]);
    const rows = await app.sql(
      'SELECT user_id, role, gone, folder_id, seq = (SELECT head FROM sync_heads h WHERE h.user_id = m.user_id AND h.tenant_id = m.tenant_id) AS latest FROM note_members m WHERE note_id = $1',
      [id],
    );
    const of = (user: TestUser) => rows.find((row) => row.user_id === user.id);
    expect(of(bob)).toMatchObject({ role: null, gone: 'unshared', latest: true });
    expect(of(carol)).toMatchObject({ role: 'viewer', gone: null, latest: true });
    expect(of(alice)).toMatchObject({ role: 'owner', gone: null, latest: true });
  });

  describe('deactivated members', () => {
    let gone: TestUser;
    let reader: TestUser;
    let owner: TestUser;

    beforeAll(async () => {
      [owner, gone, reader] = await app.tenant('leavers', 'owner', 'gone', 'reader');
    });

    test('their share links end, for reading and for writing', async () => {
      const { id } = (await gone.api.post('/notes', { title: 'linked' })).body.note;
      const { share } = (await gone.api.post(`/notes/${id}/share`, { role: 'editor' })).body.note;
      const path = `/notes/${id}?share_token=${share.token}`;
      expect((await reader.api.get(path)).status).toBe(200);
      expect((await owner.api.post(`/tenant/members/${gone.id}/deactivate`)).status).toBe(200);
      expect(outcome(await reader.api.get(path))).toEqual([404, 'not_found']);
      expect(outcome(await reader.api.get(`/notes/${id}/export.docx?share_token=${share.token}`))).toEqual([
        404,
        'not_found',
      ]);
      expect(outcome(await reader.api.patch(path, { title: 'x', base_revision: 1 }))).toEqual([
        404,
        'not_found',
      ]);
    });

    test('cannot be invited, and stay in a list that has them', async () => {
      const { id } = (await owner.api.post('/notes', { title: 'invited' })).body.note;
      const rejected = await owner.api.put(`/notes/${id}/invited`, { invited: [reader.id, gone.id] });
      expect(outcome(rejected)).toEqual([422, 'unknown_user']);
      expect(rejected.body.details).toEqual([
        expect.objectContaining({ field: 'invited.1', code: 'unknown_user' }),
      ]);
      expect((await owner.api.post(`/tenant/members/${gone.id}/activate`)).status).toBe(200);
      expect((await owner.api.put(`/notes/${id}/invited`, { invited: [reader.id, gone.id] })).status).toBe(
        200,
      );
      await owner.api.post(`/tenant/members/${gone.id}/deactivate`);
      const { status, body } = await owner.api.put(`/notes/${id}/invited`, {
        invited: [gone.id, { id: reader.id, role: 'editor' }],
      });
      expect(status).toBe(200);
      expect(body.note.invited.map((entry: any) => entry.id)).toEqual([gone.id, reader.id]);
    });
  });
});
