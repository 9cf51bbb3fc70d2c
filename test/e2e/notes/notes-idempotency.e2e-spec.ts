import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';

describe('Idempotency-Key on writes of existing notes', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const make = async (): Promise<string> =>
    (await alice.api.post('/notes', { title: 'n', content: '<p>text</p>' })).body.note.id;
  const parts = ({ status, headers, text }: ApiResponse) => [status, headers.get('etag'), text];

  test.each([
    ['PATCH', '', { title: 'changed', base_revision: 1 }],
    ['PUT', '', { content: '<p>changed</p>', base_revision: 1 }],
    ['DELETE', '', { base_revision: 1 }],
    ['PUT', '/invited', { invited: ['bob@acme.example'] }],
    ['DELETE', '/share', undefined],
  ])('a repeated %s %s gets the first response and changes nothing', async (method, path, body) => {
    const id = await make();
    await alice.api.post(`/notes/${id}/share`);
    const key = randomUUID();
    const send = () =>
      alice.api.request(method, `/notes/${id}${path}`, { body, headers: { 'idempotency-key': key } });
    const first = await send();
    expect(first.status).toBe(200);
    const before = await alice.api.get(`/notes/${id}`);
    expect(parts(await send())).toEqual(parts(first));
    expect((await alice.api.get(`/notes/${id}`)).text).toBe(before.text);
  });

  test('the precondition belongs to the request: another If-Match is another request', async () => {
    const id = await make();
    const key = randomUUID();
    const send = (revision: number) =>
      alice.api.patch(
        `/notes/${id}`,
        { title: 'x' },
        { headers: { 'idempotency-key': key, 'if-match': `"note:${id}:r${revision}"` } },
      );
    expect((await send(1)).status).toBe(200);
    expect((await send(1)).status).toBe(200);
    expect((await send(2)).body.error).toBe('idempotency_key_reused');
  });

  test('a rejected write is not remembered, and a repetition is as private as the first', async () => {
    const id = await make();
    const headers = { 'idempotency-key': randomUUID() };
    const stale = { title: 'x', base_revision: 7 };
    expect((await alice.api.patch(`/notes/${id}`, stale, { headers })).status).toBe(409);
    const fresh = { title: 'x', base_revision: 1 };
    expect((await alice.api.patch(`/notes/${id}`, fresh, { headers })).status).toBe(200);
    expect((await bob.api.patch(`/notes/${id}`, fresh, { headers })).status).toBe(404);
  });

  test('20 at once with one key make one revision', async () => {
    const id = await make();
    const headers = { 'idempotency-key': randomUUID() };
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        alice.api.patch(`/notes/${id}`, { title: 'once', base_revision: 1 }, { headers }),
      ),
    );
    for (const { status, body } of responses)
      expect(status === 200 ? body.note.revision : body.error).toEqual(
        status === 200 ? 2 : 'request_in_flight',
      );
    expect((await alice.api.get(`/notes/${id}`)).body.note.revision).toBe(2);
  });

  test('no response with the content of a purged note stays behind', async () => {
    const key = () => ({ headers: { 'idempotency-key': randomUUID() } });
    const creation = key();
    const other = await alice.api.post(
      '/notes',
      { title: 'secret title', content: '<p>secret body</p>' },
      creation,
    );
    const { id: gone } = other.body.note;
    await alice.api.put(`/notes/${gone}/invited`, { invited: [{ email: bob.email, role: 'editor' }] }, key());
    await bob.api.patch(`/notes/${gone}`, { title: 'secret title 2', base_revision: 1 }, key());
    await alice.api.post(`/notes/${gone}/task`, { title: 'secret task' }, key());
    await alice.api.delete(`/notes/${gone}`, { base_revision: 2 }, key());
    const purge = key();
    const purged = await alice.api.delete(`/notes/${gone}/purge`, undefined, purge);
    expect(purged.status).toBe(200);
    const stored = await app.sql(
      `SELECT route, reply FROM idempotency_keys WHERE reply LIKE '%secret title%' OR reply LIKE '%secret body%'`,
    );
    expect(stored).toEqual([]);
    // Repeated requests still return the outcome: the note is purged, and the creation has no note to return.
    const again = await alice.api.delete(`/notes/${gone}/purge`, undefined, purge);
    expect([again.status, again.body.purged, again.body.note]).toMatchObject([
      200,
      true,
      { id: gone, title: '', content: '' },
    ]);
    const repeated = await alice.api.post(
      '/notes',
      { title: 'secret title', content: '<p>secret body</p>' },
      creation,
    );
    expect([repeated.status, repeated.body.error]).toEqual([404, 'not_found']);
  });
});
