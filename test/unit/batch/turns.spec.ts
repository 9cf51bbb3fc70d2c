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
      Array.from({ length: 12 }, () =>
        inWorkOf({ workspace: 'one', user: 'one' }, () =>
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
    expect(Math.max(...inTurn.values())).toBeLessThanOrEqual(8);
  });
});
