/**
 * Node flags of the server. test/bench/README.md has the measurements.
 * - A young generation of 32 MB instead of V8's default: fewer collections, about a tenth less processor time for each request.
 * - A heap of at most 1 GB, far more than requests in flight need. V8's default depends on the memory of the machine.
 * - `--expose-gc` for src/platform/memory/garbage.ts.
 */
export const NODE_FLAGS = ['--max-semi-space-size=32', '--max-old-space-size=1024', '--expose-gc'];
