import { TestApp, type TestUser } from '../../support/app.ts';

describe('notes', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const make = async (fields: object = { title: 'A note', content: '<p>Text</p>' }) => {
    const { status, body } = await alice.api.post('/notes', fields);
    expect(status).toBe(201);
    return body.note;
  };

  describe('create', () => {
    test('returns the whole note, its ETag and its location', async () => {
      const { status, headers, body } = await alice.api.post('/notes', {
        title: 'Offsite',
        content: '<h1>Agenda</h1><p>Rooms</p>',
        labels: ['planning', '2026', 'planning'],
      });
      expect(status).toBe(201);
      const { note } = body;
      expect(note).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        title: 'Offsite',
        content: '<h1>Agenda</h1><p>Rooms</p>',
        revision: 1,
        folder_id: null,
        labels: ['planning', '2026'],
        links: [],
        invited: [],
        role: 'owner',
        owner: { id: alice.id, name: 'Alice', email: alice.email },
        share: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: note.created_at,
        updated_by: alice.id,
        updated_device: null,
        deleted: false,
        deleted_at: null,
        deleted_by: null,
        purge_at: null,
      });
      expect(headers.get('etag')).toBe(`"note:${note.id}:r1"`);
      expect(headers.get('location')).toBe(`/apis/v1/notes/${note.id}`);
      expect(headers.get('cache-control')).toBe('private, no-store');
    });

    test('an empty body makes an empty note', async () => {
      const { status, body } = await alice.api.post('/notes');
      expect(status).toBe(201);
      expect(body.note).toMatchObject({ title: '', content: '', labels: [] });
    });

    test('keeps the id a client chose, once', async () => {
      const id = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0001';
      expect((await alice.api.post('/notes', { id: id.toUpperCase(), title: 'mine' })).body.note.id).toBe(id);
      const again = await alice.api.post('/notes', { id, title: 'again' });
      expect(again.status).toBe(409);
      expect(again.body.error).toBe('already_exists');
      expect((await bob.api.post('/notes', { id })).body.error).toBe('already_exists');
      expect((await alice.api.get(`/notes/${id}`)).body.note.title).toBe('mine');
    });

    test('the id of a purged note is never used again, so that no old ETag matches a new note', async () => {
      const id = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0002';
      await alice.api.post('/notes', { id });
      await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      await alice.api.delete(`/notes/${id}/purge`);
      for (const user of [alice, bob]) {
        const { status, body } = await user.api.post('/notes', { id, title: 'second life' });
        expect([status, body.error]).toEqual([409, 'already_exists']);
      }
      expect((await alice.api.get(`/notes/${id}`)).status).toBe(404);
      expect(await app.sql('SELECT FROM notes WHERE id = $1', [id])).toEqual([]);
    });

    test('harmless HTML is kept to the byte, harmful HTML is cleaned', async () => {
      const harmless = '<p class=a>one<br>two&nbsp;three</p>\n<ul><li>x</ul>';
      expect((await make({ content: harmless })).content).toBe(harmless);
      const cleaned = (await make({ content: '<p onclick="steal()">a<script>alert(1)</script></p>' }))
        .content;
      expect(cleaned).toBe('<p>a</p>');
    });

    test.each([
      ['title', { title: 'x'.repeat(513) }, 'max_length'],
      ['title', { title: 7 }, 'is_string'],
      ['title', { title: null }, 'is_string'],
      ['content', { content: 'é'.repeat(1024 * 1024 + 1) }, 'max_bytes'],
      ['content', { content: ['<p>'] }, 'is_string'],
      ['labels', { labels: Array.from({ length: 101 }, (_, n) => `l${n}`) }, 'array_max_size'],
      ['labels', { labels: ['x'.repeat(101)] }, 'is_length'],
      ['labels', { labels: [''] }, 'is_length'],
      ['labels', { labels: 'one' }, 'is_array'],
      ['labels', { labels: [{ a: 1 }] }, 'is_string'],
      ['folder_id', { folder_id: 'x' }, 'is_uuid'],
      ['folder_id', { folder_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff9999' }, 'unknown_folder'],
      ['device_id', { device_id: 'x'.repeat(201) }, 'max_length'],
      ['id', { id: 'nope' }, 'is_uuid'],
    ])('rejects an invalid %s: %.40j', async (field, input, code) => {
      const before = await app.sql('SELECT count(*)::int AS n FROM notes');
      const { status, body } = await alice.api.post('/notes', input);
      expect(status).toBe(422);
      expect(body.error).toBe('validation_failed');
      expect(body.details).toEqual([{ field, code, message: expect.any(String) }]);
      expect(await app.sql('SELECT count(*)::int AS n FROM notes')).toEqual(before);
    });

    test('takes a note at each limit', async () => {
      const fields = {
        title: '𝒳'.repeat(512),
        content: 'a'.repeat(2 * 1024 * 1024),
        labels: Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(100, 'x')),
      };
      const note = await make(fields);
      expect(note).toMatchObject(fields);
    });

    test('keeps every script and emoji', async () => {
      const fields = {
        title: 'Việc 待办 قائمة 👩‍👩‍👧 \u202e',
        content: '<p>𠜎 e\u0301 ﷽</p>',
        labels: ['ラベル', '🏷️'],
      };
      expect(await make(fields)).toMatchObject(fields);
    });
  });

  describe('read', () => {
    test('returns the note and the role, never 304', async () => {
      const note = await make();
      const tag = `"note:${note.id}:r1"`;
      const { status, headers, body } = await alice.api.get(`/notes/${note.id}`, {
        headers: { 'if-none-match': tag },
      });
      expect(status).toBe(200);
      expect(headers.get('etag')).toBe(tag);
      expect(body).toEqual({ note, role: 'owner' });
    });

    test("another member's note is not found", async () => {
      const note = await make();
      const { status, body } = await bob.api.get(`/notes/${note.id}`);
      expect([status, body.error]).toEqual([404, 'not_found']);
    });

    test('an invalid id is 422', async () => {
      const { status, body } = await alice.api.get('/notes/7');
      expect([status, body.error]).toEqual([422, 'invalid_id']);
    });

    test('an id in capitals is the same id', async () => {
      const note = await make();
      expect((await alice.api.get(`/notes/${note.id.toUpperCase()}`)).body.note.id).toBe(note.id);
    });
  });

  describe('update', () => {
    test.each(['patch', 'put'] as const)('%s changes only the given fields', async (verb) => {
      const note = await make({ title: 'T', content: '<p>C</p>', labels: ['l'] });
      const { status, headers, body } = await alice.api[verb](`/notes/${note.id}`, {
        title: 'T2',
        base_revision: 1,
      });
      expect(status).toBe(200);
      expect(headers.get('etag')).toBe(`"note:${note.id}:r2"`);
      expect(body.note).toMatchObject({ title: 'T2', content: '<p>C</p>', labels: ['l'], revision: 2 });
      expect(body.note.updated_at >= note.updated_at).toBe(true);
    });

    test('takes the revision from If-Match, weakened or not, and with an equal base_revision', async () => {
      const { id } = await make();
      const tag = (r: number) => `"note:${id}:r${r}"`;
      expect(
        (await alice.api.patch(`/notes/${id}`, { title: '2' }, { headers: { 'if-match': tag(1) } })).body.note
          .revision,
      ).toBe(2);
      expect(
        (await alice.api.patch(`/notes/${id}`, { title: '3' }, { headers: { 'if-match': `W/${tag(2)}` } }))
          .body.note.revision,
      ).toBe(3);
      const both = { headers: { 'if-match': tag(3) } };
      expect(
        (await alice.api.patch(`/notes/${id}`, { title: '4', base_revision: 3 }, both)).body.note.revision,
      ).toBe(4);
    });

    test.each([
      ['missing', {}, undefined],
      ['null', { base_revision: null }, undefined],
      ['text', { base_revision: '1' }, undefined],
      ['fraction', { base_revision: 1.5 }, undefined],
      ['zero', { base_revision: 0 }, undefined],
      ['negative', { base_revision: -1 }, undefined],
      ['star', {}, '*'],
      ['unquoted', {}, 'note:ID:r1'],
      ['a list', {}, '"note:ID:r1", "note:ID:r2"'],
      ['of another note', {}, '"note:0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000:r1"'],
      ['of another kind', {}, '"task:ID:r1"'],
      ['revision zero', {}, '"note:ID:r0"'],
      ['written with a leading zero', {}, '"note:ID:r01"'],
      ['differing from the body', { base_revision: 2 }, '"note:ID:r1"'],
    ])('a revision that is %s is 422', async (_, body, tag) => {
      const { id } = await make();
      const headers: Record<string, string> = tag ? { 'if-match': tag.replaceAll('ID', id) } : {};
      const response = await alice.api.patch(`/notes/${id}`, { title: 'new', ...body }, { headers });
      expect([response.status, response.body.error]).toEqual([422, 'invalid_revision']);
      expect((await alice.api.get(`/notes/${id}`)).body.note.title).toBe('A note');
    });

    test('a stale revision changes nothing and returns the current note', async () => {
      const { id } = await make();
      const { body: won } = await alice.api.patch(`/notes/${id}`, {
        title: 'won',
        content: '<p>won</p>',
        base_revision: 1,
      });
      const { status, headers, body } = await alice.api.patch(`/notes/${id}`, {
        title: 'lost',
        base_revision: 1,
      });
      expect(status).toBe(409);
      expect(headers.get('etag')).toBe(`"note:${id}:r2"`);
      expect(body).toEqual({
        error: 'conflict',
        message: expect.any(String),
        title: 'won',
        content: '<p>won</p>',
        revision: 2,
        note_id: id,
        updated_at: won.note.updated_at,
        updated_by: alice.id,
      });
      expect((await alice.api.get(`/notes/${id}`)).body.note).toEqual(won.note);
    });

    test.each([2, 2_147_483_647, 2_147_483_648, 9_007_199_254_740_991])(
      'revision %d, higher than the current one, is a conflict',
      async (revision) => {
        const { id } = await make();
        expect(
          (await alice.api.patch(`/notes/${id}`, { title: 'x', base_revision: revision })).body.error,
        ).toBe('conflict');
      },
    );

    test('an update without a difference is 422 no_changes', async () => {
      const { id } = await make({ title: 'T', content: '<p>C</p>', labels: ['l'] });
      const same = { title: 'T', content: '<p>C</p>', labels: ['l'], folder_id: null, base_revision: 1 };
      for (const body of [same, { base_revision: 1 }, { base_revision: 1, unknown: 2, device_id: 'd' }]) {
        const response = await alice.api.patch(`/notes/${id}`, body);
        expect([response.status, response.body.error]).toEqual([422, 'no_changes']);
      }
    });

    test('a content of the same length is still a change', async () => {
      const { id } = await make({ content: '<p>one</p>' });
      expect(
        (await alice.api.patch(`/notes/${id}`, { content: '<p>two</p>', base_revision: 1 })).body.note
          .content,
      ).toBe('<p>two</p>');
    });

    test('HTML that equals the stored HTML after cleaning is no change', async () => {
      const { id } = await make({ content: '<p>a</p>' });
      const response = await alice.api.patch(`/notes/${id}`, {
        content: '<p onclick=x>a</p>',
        base_revision: 1,
      });
      expect(response.body.error).toBe('no_changes');
    });
  });

  describe('the order of errors', () => {
    test('not found comes before an invalid revision and an invalid body', async () => {
      const note = await make();
      const response = await bob.api.patch(`/notes/${note.id}`, { title: 7 });
      expect([response.status, response.body.error]).toEqual([404, 'not_found']);
    });

    test('deleted comes before an invalid revision and an invalid body', async () => {
      const { id } = await make();
      await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      for (const response of [
        await alice.api.patch(`/notes/${id}`, { title: 7 }),
        await alice.api.delete(`/notes/${id}`),
      ]) {
        expect(response.status).toBe(409);
        expect(response.body).toMatchObject({
          error: 'deleted',
          revision: 1,
          deleted_at: expect.any(String),
        });
      }
    });

    test('an invalid revision comes before an invalid body, an invalid body before a conflict', async () => {
      const { id } = await make();
      expect((await alice.api.patch(`/notes/${id}`, { title: 7 })).body.error).toBe('invalid_revision');
      expect((await alice.api.patch(`/notes/${id}`, { title: 7, base_revision: 99 })).body.error).toBe(
        'validation_failed',
      );
    });

    test('an invalid id comes before an invalid body', async () => {
      expect((await alice.api.patch('/notes/x', { title: 7 })).body.error).toBe('invalid_id');
    });
  });

  describe('trash', () => {
    test('delete, restore, purge', async () => {
      const note = await make();
      const trashed = await alice.api.delete(`/notes/${note.id}`, undefined, {
        headers: { 'if-match': `"note:${note.id}:r1"` },
      });
      expect(trashed.status).toBe(200);
      expect(trashed.headers.get('etag')).toBe(`"note:${note.id}:r1"`);
      expect(trashed.body.note).toMatchObject({
        deleted: true,
        deleted_by: alice.id,
        revision: 1,
        content: '<p>Text</p>',
      });
      const days =
        (Date.parse(trashed.body.note.purge_at) - Date.parse(trashed.body.note.deleted_at)) / 86_400_000;
      expect(Math.round(days)).toBe(30);
      expect((await alice.api.get(`/notes/${note.id}`)).body.note.deleted).toBe(true);

      const restored = await alice.api.post(`/notes/${note.id}/restore`, { device_id: 'phone' });
      expect([restored.status, restored.headers.get('etag')]).toEqual([200, `"note:${note.id}:r1"`]);
      const active = { ...note, updated_device: 'phone' };
      expect(restored.body.note).toEqual(active);
      expect((await alice.api.post(`/notes/${note.id}/restore`)).body.note).toEqual(active);

      const early = await alice.api.delete(`/notes/${note.id}/purge`);
      expect([early.status, early.body.error]).toEqual([409, 'not_in_trash']);
      await alice.api.delete(`/notes/${note.id}`, { base_revision: 1 });
      const purged = await alice.api.delete(`/notes/${note.id}/purge`);
      expect(purged.status).toBe(200);
      expect(purged.body).toMatchObject({ purged: true, note: { id: note.id, content: '<p>Text</p>' } });
      for (const path of [`/notes/${note.id}`, `/notes/${note.id}/revisions`])
        expect((await alice.api.get(path)).status).toBe(404);
      expect((await alice.api.delete(`/notes/${note.id}/purge`)).status).toBe(404);
      expect(await app.sql('SELECT 1 FROM note_revisions WHERE note_id = $1', [note.id])).toEqual([]);
    });

    test('a stale delete changes nothing', async () => {
      const { id } = await make();
      await alice.api.patch(`/notes/${id}`, { title: 'two', base_revision: 1 });
      const response = await alice.api.delete(`/notes/${id}`, { base_revision: 1 });
      expect(response.status).toBe(409);
      expect(response.body).toMatchObject({ error: 'conflict', title: 'two', revision: 2 });
      expect((await alice.api.get(`/notes/${id}`)).body.note.deleted).toBe(false);
    });

    test("others' notes cannot be deleted, restored or purged", async () => {
      const { id } = await make();
      expect((await bob.api.delete(`/notes/${id}`, { base_revision: 1 })).status).toBe(404);
      expect((await bob.api.post(`/notes/${id}/restore`)).status).toBe(404);
      expect((await bob.api.delete(`/notes/${id}/purge`)).status).toBe(404);
    });
  });

  describe('history', () => {
    test('lists revisions newest first without bodies, and reads each with its body', async () => {
      const { id } = await make({ title: 'one', content: '<p>1</p>', device_id: 'phone' });
      await alice.api.patch(`/notes/${id}`, { title: 'two', base_revision: 1 });
      await alice.api.patch(`/notes/${id}`, {
        content: '<p>3</p>',
        labels: ['x'],
        base_revision: 2,
        device_id: 'laptop',
      });
      const { status, body } = await alice.api.get(`/notes/${id}/revisions`);
      expect(status).toBe(200);
      const author = { id: alice.id, name: 'Alice' };
      const at = expect.stringMatching(/Z$/);
      expect(body).toEqual({
        revisions: [
          {
            revision: 3,
            title: 'two',
            labels: ['x'],
            author,
            device_id: 'laptop',
            size: 8,
            created_at: at,
            changed: ['content', 'labels'],
          },
          {
            revision: 2,
            title: 'two',
            labels: [],
            author,
            device_id: null,
            size: 8,
            created_at: at,
            changed: ['title'],
          },
          {
            revision: 1,
            title: 'one',
            labels: [],
            author,
            device_id: 'phone',
            size: 8,
            created_at: at,
            changed: ['title', 'content', 'labels'],
          },
        ],
        next: null,
      });
      const bodies = await Promise.all(
        [1, 2, 3].map(async (n) => (await alice.api.get(`/notes/${id}/revisions/${n}`)).body.revision),
      );
      expect(bodies.map((r) => r.content)).toEqual(['<p>1</p>', '<p>1</p>', '<p>3</p>']);
      expect(bodies.map((r) => r.revision)).toEqual([1, 2, 3]);
    });

    test('pages by cursor', async () => {
      const { id } = await make();
      for (let r = 1; r <= 4; r += 1)
        await alice.api.patch(`/notes/${id}`, { title: `t${r}`, base_revision: r });
      const first = (await alice.api.get(`/notes/${id}/revisions?limit=2`)).body;
      const second = (await alice.api.get(`/notes/${id}/revisions?limit=2&cursor=${first.next}`)).body;
      const third = (await alice.api.get(`/notes/${id}/revisions?limit=2&cursor=${second.next}`)).body;
      expect([first, second, third].map((page) => page.revisions.map((r: any) => r.revision))).toEqual([
        [5, 4],
        [3, 2],
        [1],
      ]);
      expect(third.next).toBeNull();
    });

    test('an unknown revision is 404, a revision that is not a number 422', async () => {
      const { id } = await make();
      for (const n of ['2', '2147483648', '9999999999'])
        expect((await alice.api.get(`/notes/${id}/revisions/${n}`)).status).toBe(404);
      for (const n of ['0', '-1', 'x', '1.5', '01', '99999999999999999999']) {
        const response = await alice.api.get(`/notes/${id}/revisions/${n}`);
        expect([response.status, response.body.error]).toEqual([422, 'invalid_revision']);
      }
    });

    test("another member's history is not found", async () => {
      const { id } = await make();
      expect((await bob.api.get(`/notes/${id}/revisions`)).status).toBe(404);
      expect((await bob.api.get(`/notes/${id}/revisions/1`)).status).toBe(404);
    });
  });

  test('a write commits its history, feed number and event together', async () => {
    const { id } = await make();
    await alice.api.patch(`/notes/${id}`, { title: 'two', base_revision: 1 });
    const [member] = await app.sql(
      'SELECT seq::int, (SELECT head::int FROM sync_heads WHERE user_id = m.user_id) AS head FROM note_members m WHERE note_id = $1',
      [id],
    );
    expect(member.seq).toBe(member.head);
    expect(await app.sql('SELECT revision FROM note_revisions WHERE note_id = $1 ORDER BY 1', [id])).toEqual([
      { revision: 1 },
      { revision: 2 },
    ]);
  });
});
