/** Milliseconds between two sweeps, and by which a sweep may be late. */
const PAUSE_MS = 1_000;

/**
 * The times of the sweeps that follow the ends of grace periods: one sweep for the ends of a moment, and none without an end.
 * All times are milliseconds of the same clock.
 */
export class SweepTimes {
  /** Ascending. */
  private readonly times: number[] = [];

  /** The next sweep; undefined without one. */
  get next(): number | undefined {
    return this.times[0];
  }

  /** Plans a sweep for a grace period that ends at this time: at its end, or in the pause after the sweep before it. */
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
