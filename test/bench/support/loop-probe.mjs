// Loaded into a server by `--import`: how long its event loop is held, and its memory. GET answers JSON and begins a new measurement.
import http from 'node:http';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds between two samples. */
const EVERY_MS = 2;

let longest = 0;
let computed = 0;

/** Processor time of this thread, milliseconds: a busy machine adds nothing to it. */
const used = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

setInterval(() => {
  const now = used();
  longest = Math.max(longest, now - computed);
  computed = now;
}, EVERY_MS).unref();

if (isMainThread)
  http
    .createServer((request, response) => {
      if (request.url === '/collect') globalThis.gc?.();
      const memory = process.memoryUsage();
      response.end(JSON.stringify({ held: longest, resident: memory.rss / 1048576 }));
      longest = 0;
      computed = used();
    })
    .listen(Number(process.env.PROBE_PORT), '127.0.0.1')
    .unref();
