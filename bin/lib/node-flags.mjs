/**
 * How the server's V8 manages memory. Left to itself it sizes its heap by the machine's memory and lets garbage of large pages
 * pile up: half a gigabyte resident over the benchmark, on a service that needs a fifth of that. With a heap of at most a
 * gigabyte, far more than requests in flight can hold, and a small young generation it collects in time.
 * What streams leave behind is collected by src/platform/memory/garbage.ts, hence --expose-gc.
 */
export const NODE_FLAGS = [
  '--max-semi-space-size=8',
  '--max-old-space-size=1024',
  '--expose-gc',
  '--enable-source-maps',
];
