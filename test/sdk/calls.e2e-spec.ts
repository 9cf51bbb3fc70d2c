import { ApiError, createClient, ifMatch, unwrap, type WorkspaceClient } from '@workspace-backend/client';
import { type TestUser, TestApp } from '../support/app.ts';
import { DisturbedNetwork } from '../support/sdk/network.ts';

const UNKNOWN = '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000';

describe('the calls of the client library', () => {
  let app: TestApp;
  let alice: TestUser;
  let client: WorkspaceClient;
  let network: DisturbedNetwork;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice] = await app.tenant('acme', 'alice');
  });
  afterAll(() => app?.stop());
  beforeEach(() => {
    network = new DisturbedNetwork();
    client = createClient({ url: app.base, token: () => alice.token, fetch: network.fetch });
  });

  const newNote = async (title: string) => unwrap(await client.POST('/notes', { body: { title } })).note;
  const read = async (id: string) =>
    unwrap(await client.GET('/notes/{id}', { params: { path: { id } } })).note;
  const countOf = async (title: string) => {
    const { notes } = unwrap(await client.GET('/notes', { params: { query: { limit: 200 } } }));
    return notes.filter((note) => note.title === title).length;
  };

  test('have the types of the contract', async () => {
    const note = await newNote('typed');
    const title: string = (await read(note.id)).title;
    expect(title).toBe('typed');
    // @ts-expect-error The contract has no such path.
    await client.GET('/nodes');
    // @ts-expect-error A title is a string.
    await client.POST('/notes', { body: { title: 1 } });
    // @ts-expect-error The path needs an id.
    await client.GET('/notes/{id}', { params: {} }).catch(() => undefined);
  });

  test('return errors as a union of the codes of the operation', async () => {
    const { data, error } = await client.GET('/notes/{id}', { params: { path: { id: UNKNOWN } } });
    expect(data).toBeUndefined();
    expect(error?.error).toBe('not_found');
    // @ts-expect-error The operation has no such code.
    expect(error?.error === 'cursor_expired').toBe(false);
  });

  test('throw errors on request', async () => {
    const result = await client.GET('/notes/{id}', { params: { path: { id: UNKNOWN } } });
    expect(() => unwrap(result)).toThrow(ApiError);
    const error = await Promise.resolve()
      .then(() => unwrap(result))
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'not_found', status: 404, body: { error: 'not_found' } });
  });

  test('create an object once, although the response is lost', async () => {
    network.loseResponse('POST /notes');
    const note = await newNote('written once');
    expect(note.title).toBe('written once');
    expect(await countOf('written once')).toBe(1);
    const keys = network.named('POST /notes').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[1]).toBe(keys[0]);
  });

  test('use another key for each call', async () => {
    await newNote('twin');
    await newNote('twin');
    expect(await countOf('twin')).toBe(2);
    const keys = network.named('POST /notes').map(({ headers }) => headers.get('Idempotency-Key'));
    expect(new Set(keys).size).toBe(2);
  });

  test('wait for an attempt that the service still executes', async () => {
    const header = { 'Idempotency-Key': 'one-call' };
    const create = () => client.POST('/notes', { params: { header }, body: { title: 'in flight' } });
    const results = await Promise.all([create(), create(), create()]);
    const ids = results.map((result) => unwrap(result).note.id);
    expect(new Set(ids).size).toBe(1);
    expect(await countOf('in flight')).toBe(1);
  });

  test('repeat reads, and no writes without a key', async () => {
    network.loseRequest('GET /notes');
    expect((await client.GET('/notes')).response.status).toBe(200);
    network.loseRequest('PUT /presence/me');
    const call = client.PUT('/presence/me', { body: { status: 'dnd' } });
    await expect(call).rejects.toThrow('the connection is lost');
    expect(network.named('PUT /presence/me')).toHaveLength(1);
  });

  test('end with the network error after the last attempt', async () => {
    const limited = createClient({ url: app.base, fetch: network.fetch, retry: { attempts: 2 } });
    network.loseRequest('GET /notes');
    network.loseRequest('GET /notes');
    await expect(limited.GET('/notes')).rejects.toThrow('the connection is lost');
    expect(network.named('GET /notes')).toHaveLength(2);
  });

  test('change the revision that was read, and report the current one', async () => {
    const note = await newNote('first');
    const [mine, theirs] = [await read(note.id), await read(note.id)];
    const params = { path: { id: note.id } };
    const change = (from: object, title: string) =>
      client.PATCH('/notes/{id}', { params, headers: ifMatch(from), body: { title } });
    expect((await change(theirs, 'second')).response.status).toBe(200);
    const { error } = await change(mine, 'lost');
    if (error?.error !== 'conflict') throw new Error(`unexpected result: ${error?.error}`);
    expect(error).toMatchObject({ note_id: note.id, title: 'second' });
    const again = { title: 'third', base_revision: error.revision };
    const changed = unwrap(await client.PATCH('/notes/{id}', { params, body: again })).note;
    expect((await change(changed, 'fourth')).data?.note.title).toBe('fourth');
  });

  test('know no ETag of an item of a list', async () => {
    await newNote('listed');
    const { notes } = unwrap(await client.GET('/notes'));
    expect(() => ifMatch(notes[0]!)).toThrow('The object has no ETag');
  });

  test('renew a rejected token once, and repeat the request', async () => {
    const asked: (string | undefined)[] = [];
    const token = (rejected?: string) => {
      asked.push(rejected);
      return rejected === undefined ? 'expired' : alice.token;
    };
    const renewing = createClient({ url: app.base, token, fetch: network.fetch });
    const { data } = await renewing.POST('/notes', { body: { title: 'after renewal' } });
    expect(data?.note.title).toBe('after renewal');
    expect(asked).toEqual([undefined, 'expired']);
    const rejected = createClient({ url: app.base, token: () => 'expired' });
    expect((await rejected.GET('/notes')).error?.error).toBe('unauthorized');
  });

  test('end when their signal aborts them', async () => {
    const { head } = unwrap(await client.GET('/sync/state'));
    const abort = new AbortController();
    const query = { head, wait: 25 };
    const call = client.GET('/sync/state', { params: { query }, signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('report the limit of requests when the wait would be too long', async () => {
    const small = await TestApp.start({ API_REQUESTS_PER_MINUTE: '1' }, app.databaseUrl);
    try {
      const impatient = createClient({ url: small.base, token: () => alice.token, retry: { maxWaitMs: 0 } });
      const results = [];
      for (let n = 0; n < 3; n += 1) results.push(await impatient.GET('/notes'));
      const { error, response } = results.at(-1)!;
      expect(error?.error).toBe('too_many_requests');
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
    } finally {
      await small.stop();
    }
  });
});
