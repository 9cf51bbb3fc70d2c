// Polls a condition.
import { setTimeout as delay } from 'node:timers/promises';

const WAIT_MS = 60_000;

/** Waits until the condition holds. @throws after a minute */
export async function until(holds) {
  const end = Date.now() + WAIT_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error('the condition does not hold after 60 s');
    await delay(200);
  }
}
