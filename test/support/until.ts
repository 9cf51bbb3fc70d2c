import { setTimeout as delay } from 'node:timers/promises';

/**
 * Polls until `read` gives something that is neither undefined nor false, and answers that.
 *
 * The limit is there to say what did not come, no measure of how soon it should: a busy machine is no failure.
 */
export async function until<T>(
  what: string,
  read: () => T | undefined | false | Promise<T | undefined | false>,
  seconds = 50,
): Promise<T> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await delay(20);
  }
}
