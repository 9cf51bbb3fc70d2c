// A worker thread that repeats requests of one user, several at the same time, until it is told to stop. It has a lower priority than the
// server: the processors of a client belong to another machine.
import os from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';

const { base, requests, concurrency } = workerData;
const LIMIT_MS = 60_000;

if (process.platform === 'linux') os.setPriority(0, 10);
const pool = new Pool(base, { connections: concurrency, headersTimeout: LIMIT_MS, bodyTimeout: LIMIT_MS });
const statuses = {};
const stop = new AbortController();
parentPort.once('message', () => stop.abort());

let next = 0;
async function repeat() {
  while (!stop.signal.aborted) {
    const { method, path, headers, body } = requests[next++ % requests.length];
    let status;
    try {
      const response = await pool.request({ method, path, headers, body: body && Buffer.from(body) });
      status = response.statusCode;
      for await (const _ of response.body);
    } catch (error) {
      status = error.code ?? error.message;
    }
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: concurrency }, repeat));
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
parentPort.postMessage(statuses);
await pool.destroy();
