import { generateKeyBetween } from 'fractional-indexing';
import { positionAfter, positionBeyond } from '../../../src/modules/tasks/model/rules/task-row.js';

const now = new Date('2026-06-01T12:00:00.000Z');
/** The largest whole number of a key. */
const LARGEST_NUMBER = `z${'z'.repeat(26)}`;

describe('a key for the end of a list', () => {
  test('is the time, so that later tasks follow', () => {
    const keys = [0, 1, 61, 62, 3_600_000].map((ms) =>
      positionAfter(null, new Date(now.getTime() + ms), () => 0),
    );
    expect(keys).toEqual([...new Set(keys)].sort());
    expect(keys[0]).toMatch(/^h[0-9A-Za-z]{8}01$/);
  });

  test.each([0, 0.5, 0.999_999])('does not end with a zero for the random number %d', (random) => {
    const key = positionAfter(null, now, () => random);
    expect(key).toHaveLength(11);
    expect(() => generateKeyBetween(key, null)).not.toThrow();
  });

  test('follows a last key that is in the future', () => {
    const last = positionAfter(null, new Date('2090-01-01T00:00:00Z'));
    const key = positionAfter(last, now);
    expect(key > last).toBe(true);
    expect(() => generateKeyBetween(last, key)).not.toThrow();
  });

  test.each([
    ['hzzzzzzzz', 'i000000000'],
    ['hAzzzzzzz', 'hB0000000'],
    ['h00000000V', 'h00000001'],
    [LARGEST_NUMBER, `${LARGEST_NUMBER}00000001`],
    [`${LARGEST_NUMBER}zz0000000z`, `${LARGEST_NUMBER}zz00000011`],
  ])('after %s is %s', (last, next) => {
    expect(positionBeyond(last)).toBe(next);
  });

  test('thousands of keys after a long one are short and ascending', () => {
    const keys = [`${LARGEST_NUMBER}${'zV'.repeat(86)}`];
    for (let n = 0; n < 5_000; n += 1) keys.push(positionBeyond(keys.at(-1)!));
    expect(keys).toEqual([...new Set(keys)].sort());
    expect(Math.max(...keys.slice(1).map((key) => key.length))).toBeLessThan(40);
    for (const key of keys) expect(() => generateKeyBetween(key, null)).not.toThrow();
  });
});
