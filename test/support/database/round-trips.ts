import type { Db } from '../../../src/platform/database/db.js';

const RUNS = 15;

/** Database round trips of some work: the least of several runs, since timers of the application also query the database. */
export async function leastTrips(db: Db, work: (run: number) => Promise<unknown>): Promise<number> {
  const trips: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const before = db.roundTrips;
    await work(run);
    trips.push(db.roundTrips - before);
  }
  return Math.min(...trips);
}
