/** Distinct values that are counted exactly. */
const MAX_VALUES = 10_000;
/** Ratio of the bounds of a bucket: the median of its values is at most 0.5 % off. */
const WIDTH = Math.log(1.01);

/** The bucket of a value, as the number that represents it. */
function bucketOf(value: number): number {
  if (value === 0) return 0;
  return Math.sign(value) * Math.exp((Math.floor(Math.log(Math.abs(value)) / WIDTH) + 0.5) * WIDTH);
}

/**
 * Counts of numbers in bounded memory. Minimum, maximum, mean and standard deviation are exact. The median is exact up to 10,000
 * distinct values; with more of them its relative error is at most 0.5 %.
 */
export class Distribution {
  private counts = new Map<number, number>();
  private isExact = true;
  private total = 0;
  private mean = 0;
  private squares = 0;
  private min = Infinity;
  private max = -Infinity;

  get count(): number {
    return this.total;
  }

  add(value: number): void {
    this.total += 1;
    // Welford's method: stable, and in one pass. The division comes first, so that the mean of huge numbers is finite.
    const delta = value - this.mean;
    this.mean += value / this.total - this.mean / this.total;
    const square = delta * (value - this.mean);
    this.squares += Number.isNaN(square) ? Infinity : square;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.countIn(this.isExact ? value : bucketOf(value), 1);
    if (this.isExact && this.counts.size > MAX_VALUES) this.merge();
  }

  /** Number of values that the predicate accepts. Exact for up to 10,000 distinct values. */
  countOf(predicate: (value: number) => boolean): number {
    let count = 0;
    for (const [value, times] of this.counts) if (predicate(value)) count += times;
    return count;
  }

  /** Null without values. */
  get median(): number | null {
    if (this.total === 0) return null;
    const sorted = [...this.counts].toSorted(([a], [b]) => a - b);
    const at = (index: number): number => {
      let left = index;
      for (const [value, times] of sorted) {
        if (left < times) return Math.min(this.max, Math.max(this.min, value));
        left -= times;
      }
      return this.max;
    };
    return at((this.total - 1) >> 1) / 2 + at(this.total >> 1) / 2;
  }

  /** Undefined without values. */
  get statistics() {
    const { median, min, max, mean, total } = this;
    if (median === null) return undefined;
    return { min, max, mean, median, standard_deviation: Math.sqrt(Math.max(0, this.squares / total)) };
  }

  private countIn(key: number, times: number): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + times);
  }

  private merge(): void {
    const exact = this.counts;
    this.isExact = false;
    this.counts = new Map();
    for (const [value, times] of exact) this.countIn(bucketOf(value), times);
  }
}
