import { retryAfter, traitsOf } from '../../../src/modules/push/sending/push-queue.js';

describe('urgency, lifetime and repetition of push messages', () => {
  test('a call rings for less than a minute; types without an entry are normal', () => {
    expect(traitsOf('call.started')).toEqual({ urgency: 'high', ttl: 45, examined: 3 });
    expect(traitsOf('call.missed').urgency).toBe('normal');
    expect(traitsOf('security.new_device').urgency).toBe('high');
    expect(traitsOf('task.assigned')).toEqual(traitsOf('note.shared'));
  });

  test('delays grow to an hour and vary by a tenth', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 100].map((attempts) => retryAfter(attempts, null, () => 0.5));
    expect(delays).toEqual([15, 30, 120, 600, 1_800, 3_600, 3_600, 3_600]);
    expect([retryAfter(2, null, () => 0), retryAfter(2, null, () => 1)]).toEqual([27, 33]);
  });

  test('the push service may ask for a later repetition, not for an earlier one', () => {
    expect(retryAfter(1, 90, () => 0.5)).toBe(90);
    expect(retryAfter(3, 1, () => 0.5)).toBe(120);
  });
});
