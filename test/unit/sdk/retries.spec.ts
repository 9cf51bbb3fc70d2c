import { jest } from '@jest/globals';
import { createClient, unwrap } from '@workspace-backend/client';
import { fakeOnly } from '../../support/clock.ts';

const STEP_MS = 250;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

describe('the client library repeats requests', () => {
  beforeEach(() => fakeOnly(['Date', 'setTimeout', 'clearTimeout']));
  afterEach(() => jest.useRealTimers());

  /** A client whose requests get these responses, one after the other. */
  const scripted = (...responses: (() => Response)[]) => {
    const requests: Request[] = [];
    const fetch = (request: Request): Promise<Response> => {
      requests.push(request);
      return Promise.resolve().then(responses[requests.length - 1]);
    };
    return { requests, client: createClient({ url: 'https://workspace.example', fetch }) };
  };
  /** In steps: a wait that begins after a response is not yet known at the beginning of a longer step. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= STEP_MS)
      await jest.advanceTimersByTimeAsync(Math.min(left, STEP_MS));
  };
  const ok = () => Response.json({ notes: [], next: null });
  const unavailable = (after?: string) => () =>
    Response.json(
      { error: 'overloaded', message: 'The service is overloaded; retry shortly.' },
      { status: 503, headers: after === undefined ? {} : { 'Retry-After': after } },
    );

  test('after the seconds of Retry-After, not before', async () => {
    const { client, requests } = scripted(unavailable('3'), ok);
    const call = client.GET('/notes');
    await pass(2_999);
    expect(requests).toHaveLength(1);
    await pass(1);
    expect((await call).data).toEqual({ notes: [], next: null });
  });

  test('after the date of Retry-After', async () => {
    const { client, requests } = scripted(unavailable(new Date(Date.now() + 10_000).toUTCString()), ok);
    const call = client.GET('/notes');
    await pass(8_000);
    expect(requests).toHaveLength(1);
    await pass(2_000);
    expect((await call).response.status).toBe(200);
  });

  test('four times at most, with growing waits', async () => {
    const { client, requests } = scripted(...Array.from({ length: 9 }, () => unavailable()));
    const call = client.GET('/notes');
    await pass(10_000);
    expect((await call).error?.error).toBe('overloaded');
    expect(requests).toHaveLength(4);
  });

  test('not if the wait is longer than the application allows', async () => {
    const { client, requests } = scripted(unavailable('31'), ok);
    expect((await client.GET('/notes')).response.status).toBe(503);
    expect(requests).toHaveLength(1);
  });

  test('not writes without an Idempotency-Key, unless the service did nothing', async () => {
    const limited = () =>
      Response.json({ error: 'too_many_requests' }, { status: 429, headers: { 'Retry-After': '1' } });
    const { client, requests } = scripted(limited, unavailable('1'), ok);
    const call = client.PUT('/presence/me', { body: { status: 'dnd' } });
    await pass(5_000);
    expect((await call).response.status).toBe(503);
    expect(requests).toHaveLength(2);
  });

  test('with the key that the application gives', async () => {
    const { client, requests } = scripted(unavailable('1'), ok);
    const params = { path: { id: ID }, header: { 'Idempotency-Key': 'mine' } };
    const call = client.DELETE('/notes/{id}', { params });
    await pass(1_000);
    await call;
    expect(requests.map(({ headers }) => headers.get('Idempotency-Key'))).toEqual(['mine', 'mine']);
  });

  test('until the signal aborts the wait', async () => {
    const { client, requests } = scripted(unavailable('20'), ok);
    const abort = new AbortController();
    const rejection = client.GET('/notes', { signal: abort.signal }).catch((reason: unknown) => reason);
    await pass(1_000);
    abort.abort();
    expect(await rejection).toMatchObject({ name: 'AbortError' });
    expect(requests).toHaveLength(1);
  });

  test('and reports a response without JSON by its status', async () => {
    const { client } = scripted(() => new Response('<h1>Bad gateway</h1>', { status: 500 }));
    const call = client.GET('/notes').then((result) => unwrap(result));
    await expect(call).rejects.toMatchObject({ name: 'ApiError', code: 'http_500', status: 500 });
  });
});
