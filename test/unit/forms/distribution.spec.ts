import fc from 'fast-check';
import { Distribution } from '../../../src/lib/forms/summaries.js';

function distributionOf(values: readonly number[]): Distribution {
  const distribution = new Distribution();
  for (const value of values) distribution.add(value);
  return distribution;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1]! / 2 + sorted[sorted.length >> 1]! / 2;
}

describe('Distribution', () => {
  test('no values', () => {
    const empty = new Distribution();
    expect([empty.count, empty.median, empty.statistics]).toEqual([0, null, undefined]);
  });

  test('statistics of few distinct values are exact', () => {
    const value = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), (values) => {
        const { count, median, statistics } = distributionOf(values);
        expect(count).toBe(values.length);
        expect(median).toBe(medianOf(values) + 0);
        expect(statistics?.min).toBe(Math.min(...values));
        expect(statistics?.max).toBe(Math.max(...values));
        expect(Number.isFinite(statistics?.mean)).toBe(true);
        expect(statistics?.standard_deviation).not.toBeNaN();
      }),
    );
  });

  test.each([
    ['positive', (n: number) => 1000 + n * 1.7],
    ['of both signs', (n: number) => (n - 20_000) * 3.3],
    ['of all magnitudes', (n: number) => 1.01 ** (n % 30_000)],
  ])('40,000 distinct values, %s: the median is at most 0.5 %% off', (_, valueOf) => {
    // A step without a common divisor visits all values in another order.
    const values = Array.from({ length: 40_000 }, (_value, n) => valueOf((n * 7_919) % 40_000));
    const { median, statistics } = distributionOf(values);
    const exact = medianOf(values);
    expect(Math.abs((median as number) - exact)).toBeLessThanOrEqual(Math.abs(exact) * 0.00501 + 5);
    const mean = values.reduce((sum, value) => sum + value / values.length, 0);
    const deviation = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2 / values.length, 0));
    expect(statistics?.min).toBe(Math.min(...values));
    expect(statistics?.max).toBe(Math.max(...values));
    expect(Math.abs((statistics?.mean as number) - mean)).toBeLessThan(1e-9 * statistics!.max);
    expect(statistics!.standard_deviation / deviation).toBeCloseTo(1, 9);
  });

  test('memory is bounded, also for distinct values of all magnitudes', () => {
    const distribution = new Distribution();
    for (let n = 0; n < 600_000; n += 1)
      distribution.add((n % 2 === 0 ? 1 : -1) * 10 ** ((n % 600) - 300) * (1 + n));
    expect(distribution.count).toBe(600_000);
    expect((distribution as unknown as { counts: Map<number, number> }).counts.size).toBeLessThan(300_000);
  });
});
