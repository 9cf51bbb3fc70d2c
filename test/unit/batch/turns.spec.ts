import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BatchService } from '../../../src/modules/batch/batch.controller.js';
import { inWorkOf } from '../../../src/platform/current-work/current-work.js';

describe('batches of requests that need no database', () => {
  test('leave turns of the event loop to other requests, however many there are', async () => {
    let turn = 0;
    const inTurn = new Map<number, number>();
    const respond = (_request: unknown, response: ServerResponse): void => {
      inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    const batches = new BatchService({ httpAdapter: { getInstance: () => respond } } as never);
    const outer = { id: 'outer', headers: {}, socket: {} } as never;
    const requests = Array.from({ length: 100 }, (_, n) => ({
      id: String(n),
      method: 'GET',
      path: '/apis/v1/notes',
    }));
    const batch = { mode: 'independent', stop_on_error: false, requests } as never;
    const counted = new AbortController();
    const counting = (async () => {
      for (; !counted.signal.aborted; turn += 1) await nextTurn();
    })();
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        inWorkOf({ workspace: `w${n % 2}`, user: `u${n % 4}` }, () =>
          batches.run(outer, batch, new AbortController().signal),
        ),
      ),
    );
    counted.abort();
    await counting;
    for (const { json } of replies)
      expect(JSON.parse(String(json)).responses.map((each: { status: number }) => each.status)).toEqual(
        Array.from({ length: 100 }, () => 200),
      );
    expect(Math.max(...inTurn.values())).toBeLessThanOrEqual(4);
  });

  test('wait for no other batch once they have begun, and none begins after its client has disconnected', async () => {
    const open: ServerResponse[] = [];
    const batches = new BatchService({
      httpAdapter: { getInstance: () => (_: unknown, response: ServerResponse) => void open.push(response) },
    } as never);
    const run = (user: string, signal: AbortSignal) =>
      inWorkOf({ workspace: user, user }, () =>
        batches.run(
          { id: 'outer', headers: {}, socket: {} } as never,
          {
            mode: 'independent',
            stop_on_error: false,
            requests: Array.from({ length: 4 }, () => ({ method: 'GET', path: '/apis/v1/mail' })),
          } as never,
          signal,
        ),
      );
    const { signal } = new AbortController();
    const stalled = Array.from({ length: 6 }, (_, n) => run(`stalled${n}`, signal));
    while (open.length < 24) await nextTurn();
    const gone = new AbortController();
    const left = run('gone', gone.signal);
    const last = run('last', signal);
    gone.abort(new Error('disconnected'));
    await expect(left).rejects.toThrow('disconnected');
    while (open.length < 28) await nextTurn();
    for (const response of open.splice(0))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    await Promise.all([...stalled, last]);
    expect(open).toEqual([]);
  });
});
