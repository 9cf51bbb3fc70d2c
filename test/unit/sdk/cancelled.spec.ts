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
  /** Responds to nothing. */
  const silent = createServer();
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
    for (let n = 0; n < 5; n += 1) {
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
});
