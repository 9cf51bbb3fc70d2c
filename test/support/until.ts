import { setTimeout as delay } from 'node:timers/promises';

/** Limits a wait that would never end. It is no bound on speed: a busy machine must not reach it. */
const PATIENCE_SECONDS = 240;

/** The real clock, also while a test moves its own. */
const now = performance.now.bind(performance);

/** Polls until `read` returns a value that is neither undefined nor false. @param what names the event in the error @returns the value */
export async function until<T>(
  what: string,
  read: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const deadline = now() + PATIENCE_SECONDS * 1_000;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    if (now() > deadline) throw new Error(`waited ${PATIENCE_SECONDS} s without success for ${what}`);
    await delay(20);
  }
}
