import fc from 'fast-check';
import { jest } from '@jest/globals';
import { DAY, dayOf, Zone } from '../../../src/lib/recurrence/index.js';
import { runs } from '../../support/property-runs.ts';

const NAMES = Intl.supportedValuesOf('timeZone');

const startOf = (year: number): number => dayOf(year, 1, 1) * DAY;

describe('the offsets of a zone', () => {
  test('are those of the runtime in any year, also around a change', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...NAMES),
        fc.integer({ min: 1, max: 9998 }),
        fc.nat(366 * DAY),
        fc.nat(3),
        (name, year, second, near) => {
          const zone = Zone.of(name);
          const changes = zone.transitionsBetween(startOf(year), startOf(year + 1));
          const change = changes[near % 2];
          const at = near > 1 && change ? change.at - (near % 2) : startOf(year) + second;
          expect([name, at, zone.offsetAt(at)]).toEqual([name, at, zone.measure(at)]);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  // One year of weekly samples asks the runtime about 100 times, which takes 0.3 to 0.8 ms.
  test.each([
    [1, 1899, 8_000],
    [2100, 9999, 3_000],
  ])('of the years %i to %i are found without asking the runtime for each week', (from, to, most) => {
    const asked = jest.spyOn(Zone.prototype, 'measure');
    try {
      Zone.of('America/Toronto').transitionsBetween(startOf(from), startOf(to));
      expect(asked.mock.calls.length).toBeLessThan(most);
    } finally {
      asked.mockRestore();
    }
  });
});
