import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createClient, type WorkspaceClient } from '@workspace-backend/client';

const AT_ONCE = 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a call of the client library', () => {
  /** Responds to nothing, or with the beginning of a body. */
  const silent = createServer((request, response) => {
    if (request.url!.startsWith('/apis/v1/notes'))
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"items":[');
  });
  let client: WorkspaceClient;
  beforeAll(async () => {
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    client = createClient({
      url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      token: () => 'token',
    });
  });
  afterAll(() => {
    silent.closeAllConnections();
    silent.close();
  });

  /** @returns how many calls have ended by their signal */
  const countCancelled = async (call: (signal: AbortSignal) => Promise<unknown>): Promise<number> => {
    const abort = new AbortController();
    let cancelled = 0;
    for (let n = 0; n < AT_ONCE; n += 1) call(abort.signal).catch(() => (cancelled += 1));
    for (let n = 0; n < 3; n += 1) {
      await delay(20);
      collectGarbage();
    }
    abort.abort();
    await delay(200);
    return cancelled;
  };

  test('ends by its signal, also after memory was collected', async () => {
    const query = { head: 0, wait: 25 };
    expect(await countCancelled((signal) => client.GET('/sync/state', { params: { query }, signal }))).toBe(
      AT_ONCE,
    );
    const body = { mode: 'independent' as const, requests: [] };
    expect(await countCancelled((signal) => client.POST('/batch', { body, signal }))).toBe(AT_ONCE);
  });

  test('ends by its signal while the body of the response arrives', async () => {
    expect(await countCancelled((signal) => client.GET('/notes', { signal }))).toBe(AT_ONCE);
  });

  test('ends by its signal while a file is sent', async () => {
    const file = new Blob(['a'.repeat(1_000)]);
    const params = { path: { task_id: 'id' } };
    const onProgress = () => undefined;
    const upload = (options: object) => (signal: AbortSignal) =>
      client.upload('/tasks/{task_id}/attachments', { params, file, name: 'a.txt', signal, ...options });
    expect(await countCancelled(upload({}))).toBe(AT_ONCE);
    expect(await countCancelled(upload({ onProgress }))).toBe(AT_ONCE);
  });

  test.each([
    ['its response', () => Promise.resolve(Response.json({ items: [] }))],
    ['its signal, also where it gets no response', () => new Promise<never>(() => undefined)],
  ])('leaves nothing in memory after %s', async (_, respond) => {
    const left = new Set<number>();
    const registry = new FinalizationRegistry<number>((n) => left.delete(n));
    const answering = createClient({
      url: 'http://service.example',
      fetch: (request) => {
        registry.register(request, left.size);
        left.add(left.size);
        return respond();
      },
    });
    const abort = new AbortController();
    for (let n = 0; n < AT_ONCE; n += 1) void answering.GET('/notes', { signal: abort.signal });
    await delay(20);
    expect(left.size).toBe(AT_ONCE);
    abort.abort();
    for (let n = 0; n < 3; n += 1) {
      await delay(20);
      collectGarbage();
    }
    expect(left.size).toBeLessThan(3);
  });
});
