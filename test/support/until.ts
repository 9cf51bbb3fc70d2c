import { setTimeout as delay } from 'node:timers/promises';

/** Polls until `read` gives something that is neither undefined nor false. @returns it, and after how many milliseconds */
export async function until<T>(
  what: string,
  read: () => T | undefined | false | Promise<T | undefined | false>,
  seconds = 10,
): Promise<{ value: T; ms: number }> {
  const began = performance.now();
  for (;;) {
    const value = await read();
    const ms = performance.now() - began;
    if (value !== undefined && value !== false) return { value, ms };
    if (ms > seconds * 1000) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await delay(20);
  }
}
