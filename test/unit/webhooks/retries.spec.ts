import { isGivenUp, pauseAfter, retryAfter } from '../../../src/modules/webhooks/sending/queue-run.js';

const HOUR = 3_600;

describe('retries of webhooks', () => {
  test('last for three days, with delays that grow', () => {
    const delays = Array.from({ length: 10 }, (_, n) => retryAfter(n + 1, () => 0.5)!);
    expect(delays.slice(0, 3)).toEqual([5, 60, 300]);
    expect(delays).toEqual(delays.toSorted((one, other) => one - other));
    const total = delays.reduce((sum, delay) => sum + delay, 0);
    expect(total / HOUR).toBeGreaterThan(71);
    expect(total / HOUR).toBeLessThan(73);
    expect(retryAfter(11)).toBeNull();
  });

  test('vary by a tenth', () => {
    expect([retryAfter(2, () => 0), retryAfter(2, () => 1)]).toEqual([54, 66]);
  });

  test('a queue rests longer with each failure, at most five minutes', () => {
    const pauses = [0, 1, 2, 3, 9, 10, 1_000_000].map((failures) => pauseAfter(failures, () => 0.5));
    expect(pauses).toEqual([0, 1, 2, 4, 256, 300, 300]);
  });

  test('a webhook is given up after three days without a success', () => {
    const now = Date.now();
    expect(isGivenUp(null, now)).toBe(false);
    expect(isGivenUp(new Date(now - 70 * HOUR * 1000), now)).toBe(false);
    expect(isGivenUp(new Date(now - 72 * HOUR * 1000), now)).toBe(true);
  });
});
