/**
 * Node flags of the server. test/bench/README.md has the measurements.
 * - A young generation of 16 MB. With 32 MB the process takes 40 MB more, and processor time differs by less than the noise.
 * - A heap of at most 1 GB, far more than requests in flight need. V8's default depends on the memory of the machine.
 * - The old generation grows by 40 % until V8 marks it again. Without the flag it grows up to four times under expensive requests.
 * - `--expose-gc` for src/platform/memory/garbage.ts.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=16',
  '--max-old-space-size=1024',
  '--heap-growing-percent=40',
  '--expose-gc',
];

/**
 * Variables of glibc's allocator, for the buffers of the server: two arenas for all threads, and fixed thresholds. Otherwise the freed
 * buffer of a large request raises the threshold of `mmap`, and later buffers fragment the heap. Other C libraries ignore them.
 */
export const MALLOC_SETTINGS = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '131072',
};
