import { jest } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import { TestApp, type TestUser } from '../../support/app.ts';
import { upload } from '../../support/network/multipart.ts';
import { until } from '../../support/until.ts';

describe('POST /batch', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const batch = async (user: TestUser, requests: object[], options: object = {}): Promise<any[]> => {
    const { status, body } = await user.api.post('/batch', { requests, ...options });
    expect([status, body.error]).toEqual([200, undefined]);
    return body.responses;
  };
  const statuses = (responses: any[]) => responses.map(({ status, body }) => [status, body?.error]);
  const read = (path: string) => ({ method: 'GET', path: `/apis/v1${path}` });

  test('each request has the status, headers and body that it has alone', async () => {
    const id = uuidv7();
    const path = `/apis/v1/notes/${id}`;
    const responses = await batch(alice, [
      {
        id: 'make',
        method: 'POST',
        path: '/apis/v1/notes',
        body: { id, title: 'Offline', content: '<p>é</p>' },
      },
      {
        id: 'edit',
        method: 'PATCH',
        path,
        body: { title: 'Edited' },
        headers: { 'If-Match': `"note:${id}:r1"` },
      },
      { id: 'stale', method: 'PATCH', path, body: { title: 'Stale', base_revision: 1 } },
      { ...read(`/notes/${id}`) },
      { ...read(`/notes/${uuidv7()}`) },
      { ...read('/nothing/here') },
      { id: 'trash', method: 'DELETE', path, body: { base_revision: 2 } },
    ]);
    expect(responses.map((response) => [response.id, response.status])).toEqual([
      ['make', 201],
      ['edit', 200],
      ['stale', 409],
      [undefined, 200],
      [undefined, 404],
      [undefined, 404],
      ['trash', 200],
    ]);
    expect(responses[0].headers).toEqual({
      'x-request-id': expect.stringMatching(/\.0$/),
      etag: `"note:${id}:r1"`,
      location: path,
    });
    expect(responses[2].body).toMatchObject({ error: 'conflict', revision: 2, title: 'Edited' });
    expect(responses[3].body.note).toMatchObject({ id, title: 'Edited', content: '<p>é</p>' });
    const alone = await alice.api.get(`/notes/${id}`);
    expect(responses[6].body.note).toEqual(alone.body.note);
  });

  test('200 edits written offline are two requests, and sending them again changes nothing', async () => {
    const [a, b] = [uuidv7(), uuidv7()];
    const edits = (id: string) => [
      { method: 'POST', path: '/apis/v1/notes', body: { id }, headers: { 'Idempotency-Key': `${id}-0` } },
      ...Array.from({ length: 99 }, (_, n) => ({
        method: 'PATCH',
        path: `/apis/v1/notes/${id}`,
        body: { base_revision: n + 1, title: `edit ${n}` },
        headers: { 'Idempotency-Key': `${id}-${n + 1}` },
      })),
    ];
    for (const id of [a, b]) {
      const first = await batch(alice, edits(id));
      expect(first.map(({ status }) => status)).toEqual([201, ...Array(99).fill(200)]);
      const again = await batch(alice, edits(id), { stop_on_error: true });
      expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body));
      expect((await alice.api.get(`/notes/${id}`)).body.note).toMatchObject({
        revision: 100,
        title: 'edit 98',
      });
    }
  });

  test('with `Prefer: return=minimal` a response with an ETag has no body, an error and a read have theirs', async () => {
    const id = uuidv7();
    const path = `/apis/v1/notes/${id}`;
    const headers = { Prefer: 'return=minimal' };
    const responses = await batch(alice, [
      { method: 'POST', path: '/apis/v1/notes', body: { id }, headers },
      { method: 'PATCH', path, body: { title: 'Edited', base_revision: 1 }, headers },
      { method: 'PATCH', path, body: { title: 'Stale', base_revision: 1 }, headers },
      { method: 'GET', path, headers },
      { method: 'POST', path: '/apis/v1/chat/rooms', body: { type: 'group', name: 'Travel' }, headers },
    ]);
    expect(responses.map(({ status, headers: { etag }, body }) => [status, etag, body])).toEqual([
      [201, `"note:${id}:r1"`, null],
      [200, `"note:${id}:r2"`, null],
      [409, `"note:${id}:r2"`, expect.objectContaining({ error: 'conflict', revision: 2 })],
      [
        200,
        `"note:${id}:r2"`,
        expect.objectContaining({ note: expect.objectContaining({ title: 'Edited' }) }),
      ],
      [201, undefined, expect.objectContaining({ room: expect.objectContaining({ name: 'Travel' }) })],
    ]);
    const other = { method: 'GET', path, headers: { prefer: 'respond-async' } };
    expect(await alice.api.post('/batch', { requests: [other] })).toMatchObject({
      status: 422,
      body: { details: [{ field: 'requests.0.headers.prefer', code: 'is_in' }] },
    });
  });

  test('with stop_on_error nothing runs after a failure; without it everything does', async () => {
    const requests = () => [
      { method: 'POST', path: '/apis/v1/notes', body: { id: uuidv7() } },
      { method: 'POST', path: '/apis/v1/notes', body: { title: 7 } },
      { method: 'POST', path: '/apis/v1/notes', body: { id: uuidv7() } },
    ];
    const stopped = requests();
    expect(statuses(await batch(alice, stopped, { stop_on_error: true }))).toEqual([
      [201, undefined],
      [422, 'validation_failed'],
      [424, 'not_run'],
    ]);
    expect((await alice.api.get(`/notes/${stopped[2]!.body.id}`)).status).toBe(404);
    expect(statuses(await batch(alice, requests())).map(([status]) => status)).toEqual([201, 422, 201]);
  });

  test('independent requests each have their response in its place', async () => {
    const ids = Array.from({ length: 30 }, () => uuidv7());
    const made = await batch(
      alice,
      ids.map((id) => ({ id, method: 'POST', path: '/apis/v1/notes', body: { id } })),
      { mode: 'independent' },
    );
    expect(made.map(({ id, status, body }) => [id, status, body.note.id])).toEqual(
      ids.map((id) => [id, 201, id]),
    );
  });

  test('requests act as the caller: no access beyond theirs, no other token', async () => {
    const { note } = (await alice.api.post('/notes', { title: 'private' })).body;
    expect(statuses(await batch(bob, [read(`/notes/${note.id}`)]))).toEqual([[404, 'not_found']]);
    const smuggled = await bob.api.post('/batch', {
      requests: [{ ...read(`/notes/${note.id}`), headers: { Authorization: `Bearer ${alice.token}` } }],
    });
    expect([smuggled.status, smuggled.body.details[0].field]).toEqual([
      422,
      'requests.0.headers.Authorization',
    ]);
    expect((await app.anonymous.post('/batch', { requests: [read('/notes')] })).status).toBe(401);
    const lonely = await app.userWithoutWorkspace('lonely');
    expect((await lonely.api.post('/batch', { requests: [read('/notes')] })).status).toBe(403);
  });

  test('files, sign-in, waiting and batches are left out, each in its own response', async () => {
    const { note } = (await alice.api.post('/notes', { title: 'n' })).body;
    const { task } = (await alice.api.post('/tasks', { title: 't' })).body;
    const { attachment } = (await upload(alice.api, `/tasks/${task.id}/attachments`, 'text')).body;
    const warned = jest.fn();
    process.on('warning', warned);
    const responses = await batch(alice, [
      read(`/notes/${note.id}/export.docx`),
      read(`/tasks/${task.id}/attachments/${attachment.id}`),
      { method: 'POST', path: `/apis/v1/tasks/${task.id}/attachments`, body: { file: 'x' } },
      { method: 'POST', path: '/apis/v1/batch', body: { requests: [read('/notes')] } },
      { method: 'POST', path: '/apis/v1/auth/sign-out', body: {} },
      read('/oidc/.well-known/openid-configuration'),
      read('/oidc/../batch'),
      read('/notes/changes?wait=1'),
      read(`/notes/${note.id}`),
    ]);
    expect(statuses(responses)).toEqual([
      [422, 'not_batchable'],
      [422, 'not_batchable'],
      [415, 'unsupported_media_type'],
      [422, 'not_batchable'],
      [422, 'not_batchable'],
      [422, 'not_batchable'],
      [422, 'not_batchable'],
      [422, 'not_batchable'],
      [200, undefined],
    ]);
    await until('the files to be closed', () => app.openBlobs() === 0);
    // The garbage collector closes a forgotten file, with a warning.
    expect(warned).not.toHaveBeenCalled();
    process.off('warning', warned);
  });

  test('no request starts once the responses are long enough', async () => {
    const content = `<p>${'x'.repeat(2_000_000)}</p>`;
    const { note } = (await alice.api.post('/notes', { content })).body;
    const responses = await batch(
      alice,
      Array.from({ length: 12 }, () => read(`/notes/${note.id}`)),
    );
    expect(responses.map(({ status }) => status)).toEqual([...Array(9).fill(200), 503, 503, 503]);
    expect(responses[9].body.error).toBe('batch_full');
  });

  test.each([
    ['no requests', {}],
    ['an empty list', { requests: [] }],
    [
      'too many',
      { requests: Array.from({ length: 101 }, () => ({ method: 'GET', path: '/apis/v1/notes' })) },
    ],
    ['a bare list', []],
    ['another mode', { mode: 'atomic', requests: [{ method: 'GET', path: '/apis/v1/notes' }] }],
    ['no object', { requests: [7] }],
    ['another method', { requests: [{ method: 'TRACE', path: '/apis/v1/notes' }] }],
    ['a path outside of the API', { requests: [{ method: 'GET', path: '/metrics' }] }],
    ['an absolute URL', { requests: [{ method: 'GET', path: 'http://127.0.0.1/apis/v1/notes' }] }],
    ['a line end in the path', { requests: [{ method: 'GET', path: '/apis/v1/notes\r\nX: y' }] }],
    [
      'a line end in a header',
      { requests: [{ method: 'GET', path: '/apis/v1/x', headers: { 'If-Match': 'a\nb' } }] },
    ],
  ])('%s: 422 for the whole batch', async (_, body) => {
    const response = await alice.api.post('/batch', body);
    expect([response.status, response.body.error]).toEqual([422, 'validation_failed']);
  });
});
