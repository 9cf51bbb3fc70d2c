import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import type { ApiResponse } from '../../support/network/client.ts';

describe('a write that is repeated after a lost response', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const essence = ({ status, headers, text }: ApiResponse) => [status, headers.get('etag'), text];
  const make = async (path: string, body: object): Promise<string> => {
    const response = await alice.api.post(path, body);
    expect(response.status).toBe(201);
    return Object.values<any>(response.body)[0].id;
  };

  test.each([
    ['/notes', 'PATCH', { title: 'again', base_revision: 1 }],
    ['/notes', 'DELETE', { base_revision: 1 }],
    ['/tasks', 'PATCH', { title: 'again', base_revision: 1 }],
    ['/tasks', 'PUT', { done: true, base_revision: 1 }],
    ['/tasks', 'DELETE', { base_revision: 1 }],
    ['/note_folders', 'PATCH', { name: 'again', base_revision: 1 }],
    ['/note_folders', 'PUT', { name: 'again', base_revision: 1 }],
    ['/note_folders', 'DELETE', { base_revision: 1 }],
    ['/task_folders', 'PATCH', { name: 'again', base_revision: 1 }],
    ['/task_folders', 'DELETE', { base_revision: 1 }],
  ])('%s %s gets the first response, and changes nothing', async (path, method, body) => {
    const id = await make(path, { title: 'first', name: 'first' });
    const headers = { 'idempotency-key': randomUUID() };
    const send = (more: object = body) => alice.api.request(method, `${path}/${id}`, { body: more, headers });
    const first = await send();
    expect(first.status).toBe(200);
    const { head } = (await alice.api.get('/sync/state')).body;
    expect(essence(await send())).toEqual(essence(first));
    expect((await alice.api.get('/sync/state')).body.head).toBe(head);
    expect((await send({ ...body, extra: 1 })).body.error).toBe('idempotency_key_reused');
    // Without the key the repeated request finds the effect of the first one.
    const without = await alice.api.request(method, `${path}/${id}`, { body });
    expect(without.status).toBeGreaterThanOrEqual(400);
  });

  test('a task that notes link to, and a folder with its contents', async () => {
    const note = await make('/notes', { title: 'linked' });
    const { task } = (await alice.api.post(`/notes/${note}/task`, { title: 't' })).body;
    const folder = await make('/note_folders', { name: 'full' });
    await make('/notes', { title: 'inside', folder_id: folder });
    for (const [method, path, body] of [
      ['PATCH', `/tasks/${task.id}`, { title: 'renamed', base_revision: task.revision }],
      ['DELETE', `/tasks/${task.id}`, { base_revision: task.revision + 1 }],
      ['DELETE', `/note_folders/${folder}?contents=trash`, { base_revision: 1 }],
    ] as const) {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await alice.api.request(method, path, { body, headers });
      expect([path, first.status]).toEqual([path, 200]);
      expect(essence(await alice.api.request(method, path, { body, headers }))).toEqual(essence(first));
    }
    expect((await alice.api.get(`/notes/${note}`)).body.note.links).toEqual([]);
  });

  test('errors are not remembered and leave nothing behind', async () => {
    const id = await make('/note_folders', { name: 'kept' });
    const headers = { 'idempotency-key': randomUUID() };
    const stale = await alice.api.patch(`/note_folders/${id}`, { name: 'x', base_revision: 9 }, { headers });
    expect([stale.status, stale.body.error]).toEqual([409, 'conflict']);
    const fresh = await alice.api.patch(`/note_folders/${id}`, { name: 'x', base_revision: 1 }, { headers });
    expect([fresh.status, fresh.body.folder.name]).toEqual([200, 'x']);
    expect((await bob.api.patch(`/note_folders/${id}`, { name: 'x' }, { headers })).status).toBe(404);
    const invalid = await alice.api.patch(`/tasks/${id}`, {}, { headers: { 'idempotency-key': 'a b' } });
    expect([invalid.status, invalid.body.error]).toEqual([422, 'invalid_idempotency_key']);
  });

  test('20 at once with one key write once', async () => {
    const id = await make('/tasks', { title: 'once' });
    const headers = { 'idempotency-key': randomUUID() };
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => alice.api.patch(`/tasks/${id}`, { title: 'twice' }, { headers })),
    );
    for (const { status, body } of responses)
      expect(status === 200 ? body.task.revision : body.error).toBe(status === 200 ? 2 : 'request_in_flight');
    expect((await alice.api.get(`/tasks/${id}`)).body.task.revision).toBe(2);
  });
});
