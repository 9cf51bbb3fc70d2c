import fc from 'fast-check';
import { SweepTimes } from '../../src/modules/presence/devices/presence-devices.js';

const GRACE = 10_000;
const PAUSE = 1_000;

/** Runs the planned sweeps while devices disconnect. @returns the times of the sweeps */
function simulate(departures: readonly number[]): number[] {
  const times = new SweepTimes();
  const sweeps: number[] = [];
  const runUntil = (now: number) => {
    for (let at = times.next; at !== undefined && at <= now; at = times.next) {
      times.begin(at);
      sweeps.push(at);
    }
  };
  for (const at of departures) {
    runUntil(at);
    times.add(at + GRACE);
  }
  runUntil(Number.POSITIVE_INFINITY);
  expect(times.next).toBeUndefined();
  return sweeps;
}

const departures = fc
  .array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 })
  .map((times) => times.toSorted((a, b) => a - b));

describe('sweeps of presence', () => {
  test('a device that disconnects alone is swept at the end of its grace period', () => {
    expect(simulate([5])).toEqual([GRACE + 5]);
    // The second device was swept 9 seconds late, by a whole grace period after the first sweep.
    expect(simulate([0, 1_500])).toEqual([GRACE, GRACE + 1_500]);
  });

  test('devices that disconnect together share sweeps', () => {
    expect(simulate([0, 0, 1, 2, 900, 1_000])).toEqual([GRACE, GRACE + PAUSE]);
  });

  test('no device is swept early or more than a second late; sweeps have a pause, and none runs without cause', () => {
    fc.assert(
      fc.property(departures, (all) => {
        const sweeps = simulate(all);
        for (const at of all) {
          const first = sweeps.find((sweep) => sweep >= at + GRACE);
          expect(first).toBeLessThanOrEqual(at + GRACE + PAUSE);
        }
        for (const [n, sweep] of sweeps.entries()) {
          if (n > 0) expect(sweep - sweeps[n - 1]!).toBeGreaterThanOrEqual(PAUSE);
          expect(all.some((at) => sweep - PAUSE <= at + GRACE && at + GRACE <= sweep)).toBe(true);
        }
      }),
    );
  });

  test('a sweep that begins late covers all grace periods that have ended', () => {
    const times = new SweepTimes();
    for (const end of [1_000, 3_000, 5_000]) times.add(end);
    times.begin(4_000);
    expect(times.next).toBe(5_000);
  });
});
