/**
 * Node flags of the server. test/bench/README.md has the measurements.
 * - A young generation of 16 MB. With 32 MB the process takes 40 MB more, and processor time differs by less than the noise.
 * - A heap of at most 1 GB, far more than requests in flight need. V8's default depends on the memory of the machine.
 * - `--expose-gc` for src/platform/memory/garbage.ts.
 */
export const NODE_FLAGS = ['--max-semi-space-size=16', '--max-old-space-size=1024', '--expose-gc'];
