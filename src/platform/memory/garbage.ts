import { constants, PerformanceObserver } from 'node:perf_hooks';

// Needs --expose-gc (bin/lib/node-flags.mjs). Without it these functions do nothing.

/** Number of forwarded bytes after which the young generation is collected. */
const COLLECT_EVERY_BYTES = 4 * 1024 * 1024;

/** Whether V8 marks the old generation. */
let isMarking = false;
let forwarded = 0;

if (globalThis.gc)
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as unknown as { detail: { kind: number } }[]) {
      const { kind } = detail;
      if (kind === constants.NODE_PERFORMANCE_GC_INCREMENTAL) isMarking = true;
      else if (kind === constants.NODE_PERFORMANCE_GC_MAJOR) isMarking = false;
    }
  }).observe({ entryTypes: ['gc'] });

/**
 * Counts bytes that become garbage as soon as they are forwarded. Node reads each chunk into a new buffer. V8 accumulates about
 * 32 MB of these external buffers and then collects the whole heap, which costs more processor time and memory than collecting
 * the young generation after every 4 MiB. test/bench/README.md has the measurement.
 */
export function countForwardedBytes(bytes: number): void {
  forwarded += bytes;
  if (forwarded < COLLECT_EVERY_BYTES) return;
  forwarded = 0;
  collectStepGarbage();
}

/**
 * Collects the young generation, for the end of a step that leaves megabytes of garbage. Otherwise V8 lets the young generation grow
 * to its maximum, which the process keeps. While V8 marks the old generation beside the program, it would first finish that at once, with
 * a pause of some 60 ms in place of 10 (its flag `separate_gc_phases`).
 */
export function collectStepGarbage(): void {
  if (!isMarking) globalThis.gc?.({ type: 'minor' });
}

/**
 * Frees the memory that only the start needs: sources of modules, metadata, code that runs once. Takes about 0.2 s and makes the
 * process about 20 MB smaller.
 */
export function collectStartupGarbage(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
