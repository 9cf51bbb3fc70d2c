import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import {
  type FoundSubject,
  PublicEvents,
  type PublicEventType,
} from '../../../src/platform/events/public-events.js';
import { ConcurrencyLimiter } from '../../../src/platform/workers/concurrency-limiter.js';
import { WebhookContents } from '../../../src/modules/webhooks/sending/contents.js';

const THING = { kind: 'thing', object: Object, facts: {} };
/** All events are about things; none is declared, because other files would find it. */
class ThingEvents extends PublicEvents {
  override find(type: string): PublicEventType {
    return { type, description: '', subject: THING };
  }
}
const ALICE = {
  tenantId: randomUUID(),
  userId: randomUUID(),
  role: 'member',
  sessionId: null,
  requestId: '',
} as const;

const due = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `delivery-${n}`,
    event_type: 'thing.changed',
    facts: { n },
    occurred_at: new Date(),
    attempts: 0,
  }));

describe('contents of deliveries', () => {
  /** Objects of the sizes, and how they were read. */
  function things(sizeOf: (n: number) => number) {
    const events = new ThingEvents();
    const reads = { running: 0, most: 0, count: 0, time: 0 };
    const one = async (_: unknown, { n }: any): Promise<FoundSubject> => {
      reads.count += 1;
      reads.most = Math.max(reads.most, (reads.running += 1));
      await nextTurn();
      reads.time += 10;
      reads.running -= 1;
      return JSON.stringify('x'.repeat(sizeOf(n) - 2));
    };
    events.register(THING, { one });
    const contents = new WebhookContents(events, new ConcurrencyLimiter(4, Infinity));
    const read = (count: number) => contents.messagesOf(ALICE, {}, due(count), (remote) => remote());
    return { reads, read };
  }

  test('that are read one by one take few connections, also for many webhooks', async () => {
    const { reads, read } = things(() => 10);
    const all = await Promise.all(Array.from({ length: 8 }, () => read(100)));
    expect(all.map(({ contents }) => contents.length)).toEqual(Array(8).fill(100));
    expect(reads.most).toBeLessThanOrEqual(4);
    // The webhooks of an owner share what is read.
    expect(reads.count).toBe(100);
  });

  test('end after half a megabyte: what follows is neither read nor sent', async () => {
    const { reads, read } = things(() => 200_000);
    const { contents } = await read(100);
    expect(contents.length).toBe(3);
    expect(reads.count).toBeLessThanOrEqual(50);
  });

  test('count objects that are left out, so that few of these are read at once', async () => {
    const { reads, read } = things(() => 1_000_000);
    const { contents } = await read(100);
    expect(contents.map((content) => JSON.parse(content!.body()).data)).toEqual([
      { n: 0, thing: null, omitted: true },
      { n: 1, thing: null, omitted: true },
    ]);
    expect(contents[0]!.length).toBeGreaterThanOrEqual(250_000);
    expect(reads.count).toBeLessThanOrEqual(50);
  });

  test('are as old as the begin of their read', async () => {
    const { reads, read } = things(() => 10);
    reads.time = 500;
    const now = jest.spyOn(Date, 'now').mockImplementation(() => reads.time);
    const { since } = await read(10);
    now.mockRestore();
    expect([since, reads.time]).toEqual([500, 600]);
  });
});
