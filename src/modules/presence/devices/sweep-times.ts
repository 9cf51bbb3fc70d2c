/** Minimum time between two sweeps, and maximum delay of a sweep, in milliseconds. */
const PAUSE_MS = 1_000;

/**
 * The times of the sweeps after the ends of grace periods. One sweep serves all grace periods that end within `PAUSE_MS`.
 * All times are milliseconds of the same clock.
 */
export class SweepTimes {
  /** Ascending. */
  private readonly times: number[] = [];

  /** The next sweep; undefined without one. */
  get next(): number | undefined {
    return this.times[0];
  }

  /** Plans a sweep for a grace period that ends at this time, unless a planned sweep follows within `PAUSE_MS`. */
  add(end: number): void {
    if (this.times.some((time) => time >= end && time <= end + PAUSE_MS)) return;
    const before = this.times.findLast((time) => time < end) ?? Number.NEGATIVE_INFINITY;
    this.times.push(Math.max(end, before + PAUSE_MS));
    this.times.sort((a, b) => a - b);
  }

  /** A sweep begins: it covers all grace periods that have ended. */
  begin(now: number): void {
    while (this.times[0] !== undefined && this.times[0] <= now) this.times.shift();
  }
}
