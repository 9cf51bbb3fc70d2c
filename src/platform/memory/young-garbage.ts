/** Bytes that may have passed through this process since garbage was last collected. */
const PILE = 4 * 1024 * 1024;

let passed = 0;

/**
 * Counts bytes of a stream that are garbage as soon as they have been passed on. Node reads each piece into a fresh buffer, and
 * V8 lets some 32 MB of those pile up; a collection of the young generation after every 4 MiB costs a millisecond or so and
 * keeps the process as small as what it holds. Does nothing where Node runs without `--expose-gc` (bin/lib/node-flags.mjs).
 */
export function passedOn(bytes: number): void {
  passed += bytes;
  if (passed < PILE) return;
  passed = 0;
  globalThis.gc?.({ type: 'minor' });
}
