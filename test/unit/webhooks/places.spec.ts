import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Lane, placesOf } from '../../../src/modules/webhooks/sending/dispatcher.js';
import { QueueRun } from '../../../src/modules/webhooks/sending/queue-run.js';

describe('places of runs in a process', () => {
  const runs = (tenant_id: string, lane: Lane, count: number, length = 0) =>
    Array.from({ length: count }, () => ({ lane, run: { queue: { tenant_id }, length } }));

  test.each([
    ['of a lane', [...runs('a', 'fast', 100), ...runs('b', 'slow', 31)], 412, []],
    ['of a workspace in the lane', runs('a', 'fast', 128), 384, ['a']],
    ['of a workspace in both lanes', [...runs('a', 'fast', 84), ...runs('a', 'slow', 300)], 428, ['a']],
    ['of a workspace with long contents', runs('a', 'slow', 64, 262_144), 512, ['a']],
    [
      'of a process with receivers that hang',
      Array.from({ length: 16 }, (_, n) => runs(`${n}`, 'slow', 255)).flat(),
      16,
      [],
    ],
    [
      'of a process with long contents',
      ['a', 'b', 'c', 'd', 'e'].flatMap((tenant) => runs(tenant, 'slow', 63, 262_144)),
      0,
      [],
    ],
  ])('%s', (_, running, left, busy) => {
    expect(placesOf(new Set(running), 'fast')).toEqual({ left, busy: new Set(busy) });
  });

  test('a run counts its contents, and after `forget` the one in flight', async () => {
    const { promise: response, resolve: respond } = Promise.withResolvers<any>();
    const batch = ['1', '2', '3'].map((id) => ({ id, attempts: 0 }));
    const sent: string[] = [];
    const services: any = {
      statements: {
        next: async () => ({ webhook: {}, role: 'member', batch: sent.length > 0 ? [] : batch }),
        record: async () => undefined,
        release: async () => null,
      },
      access: { isAllowed: async () => true },
      contents: {
        messagesOf: async (_ctx: unknown, _filter: unknown, some: unknown[]) => ({
          since: Date.now(),
          contents: some.map(() => ({ length: 1_000, body: () => '{}' })),
        }),
      },
      sender: { send: async (_: unknown, { id }: { id: string }) => (sent.push(id), response) },
    };
    const run = new QueueRun(services, { failures: 0, failing_since: null } as any);
    const ended = run.run();
    while (sent.length === 0) await nextTurn();
    expect(run.length).toBe(3_000);
    run.forget();
    expect(run.length).toBe(1_000);
    respond({ ok: true, latencyMs: 1 });
    await ended;
    expect([run.length, sent]).toEqual([0, ['1']]);
  });
});
