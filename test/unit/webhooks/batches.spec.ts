import { nextBatch } from '../../../src/modules/webhooks/sending/contents.js';

describe('deliveries that are read at once', () => {
  test.each([
    ['a quick receiver', 20, { read: 20, sent: 20, ms: 10, length: 20_000 }, 40],
    ['a quick receiver, the most', 80, { read: 80, sent: 80, ms: 40, length: 80_000 }, 100],
    [
      '100 ms for each: what is sent in half a second',
      100,
      { read: 100, sent: 11, ms: 1_100, length: 100_000 },
      5,
    ],
    ['ten seconds for each', 20, { read: 20, sent: 1, ms: 10_000, length: 20_000 }, 1],
    [
      'long contents: half a megabyte together',
      100,
      { read: 100, sent: 100, ms: 100, length: 100 * 262_144 },
      2,
    ],
    ['nothing was sent', 20, { read: 20, sent: 0, ms: 1, length: 0 }, 1],
  ])('%s', (_, size, batch, next) => {
    expect(nextBatch(size, batch)).toBe(next);
  });
});
