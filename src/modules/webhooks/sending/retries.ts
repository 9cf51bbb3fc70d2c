const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds between the attempts of a delivery: three days in all. */
const DELAYS = [
  5,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  18 * HOUR,
  22 * HOUR,
];
/** Part of a delay by which it varies, so that receivers do not get all repetitions at once. */
const JITTER = 0.1;
/** The longest rest of a queue whose receiver fails. */
const MAX_PAUSE = 5 * MINUTE;
/** A webhook without a success for so long is deactivated. */
const FAILING_MS = 71 * HOUR * 1000;

const varied = (seconds: number, random: () => number): number =>
  seconds * (1 - JITTER + 2 * JITTER * random());

/** Seconds until the next attempt, after so many failed ones; null: no attempt is left. */
export function retryAfter(attempts: number, random: () => number = Math.random): number | null {
  const delay = DELAYS[attempts - 1];
  return delay === undefined ? null : varied(delay, random);
}

/**
 * Seconds for which a queue rests after so many failures without a success in between: a receiver that is down gets few requests, one
 * that rejects a single event gets the others soon.
 */
export const pauseAfter = (failures: number, random: () => number = Math.random): number =>
  failures === 0 ? 0 : varied(Math.min(2 ** (failures - 1), MAX_PAUSE), random);

/** Whether a webhook has failed for so long that it is deactivated. @param since the first failure after the last success */
export const isGivenUp = (since: Date | null, now = Date.now()): boolean =>
  since !== null && now - since.getTime() >= FAILING_MS;
