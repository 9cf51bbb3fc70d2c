import { setTimeout as delay } from 'node:timers/promises';

/** Says what did not come; no measure of how soon it should: a busy machine is no failure. */
const PATIENCE_SECONDS = 120;

/** Polls until `read` gives something that is neither undefined nor false, and answers that. */
export async function until<T>(
  what: string,
  read: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = performance.now() + PATIENCE_SECONDS * 1_000;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_SECONDS} s in vain for ${what}`);
    await delay(20);
  }
}
