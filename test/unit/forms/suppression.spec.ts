import * as fc from 'fast-check';
import { largeEnough } from '../../../src/modules/forms/results/reports/report-data.js';

const counted = (counts: readonly number[]) => counts.map((count) => ({ count }));
const sum = (entries: readonly { count: number }[]) => entries.reduce((total, { count }) => total + count, 0);

describe('suppression of small counts', () => {
  test.each([
    [
      [5, 4, 3],
      [5, 4, 3],
    ],
    [[5, 4, 1], [5]],
    [[5, 2, 1], [5]],
    [[5, 0, 1], [0]],
    [
      [9, 5, 4, 1, 0],
      [9, 5, 0],
    ],
  ])('of %j at least 3: %j', (counts, shown) => {
    expect(largeEnough(counted(counts), 3, sum(counted(counts)))).toEqual(counted(shown));
  });

  test('without a known total only the small ones are left out', () => {
    expect(largeEnough(counted([5, 4, 1]), 3, undefined)).toEqual(counted([5, 4]));
  });

  test('the difference from the total is nothing or large enough, or no count is shown', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 8 }), fc.nat(10), (counts, least) => {
        const shown = largeEnough(counted(counts), least, sum(counted(counts)));
        const hidden = sum(counted(counts)) - sum(shown);
        expect(hidden === 0 || hidden >= least || sum(shown) === 0).toBe(true);
        expect(shown.every(({ count }) => count === 0 || count >= least)).toBe(true);
      }),
    );
  });
});
