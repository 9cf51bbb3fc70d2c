import { jest } from '@jest/globals';
import { fakeOnly } from '../support/clock.ts';
import { until } from '../support/until.ts';

test('until() waits by the real clock while a test moves its own', async () => {
  fakeOnly(['performance']);
  try {
    const hour = () => (jest.advanceTimersByTime(3_600_000), performance.now() > 10_000_000);
    await expect(until('three hours', hour)).resolves.toBe(true);
  } finally {
    jest.useRealTimers();
  }
});
