// The load generator, a process of its own. Each message of the parent starts one measurement: an operation against one port over
// a number of closed-loop connections, each of which sends its next request after the response to the last one.
import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { Connection } from './connection.mjs';
import { introduce, OPERATIONS } from '../notes/operations/operations.mjs';
import { MINIMAL } from '../notes/operations/minimal.mjs';
import { PARSE } from '../notes/peer/operations-parse.mjs';

const ALL = { ...OPERATIONS, ...MINIMAL, ...PARSE };
const callers = JSON.parse(readFileSync(process.argv[2], 'utf8'));

async function leg({ port, operation, connections, fixtures, warmUp, duration }) {
  const { expects, prepare } = ALL[operation];
  const tally = { sent: 0, unexpected: {}, latencies: [], recording: false, stopped: false };
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const ready = await Promise.all(
    open.map((connection, n) =>
      prepare({
        callers,
        exchange: (request, status) => exchange(connection, request, status, tally),
        fixtures,
        n,
      }),
    ),
  );
  const loops = open.map((connection, n) => loop(connection, ready[n], expects, tally));

  await delay(warmUp);
  process.send({ type: 'measuring' });
  const started = performance.now();
  tally.recording = true;
  await delay(duration);
  tally.recording = false;
  const seconds = (performance.now() - started) / 1000;
  process.send({ type: 'measured' });
  tally.stopped = true;
  await Promise.all(loops);
  for (const connection of open) connection.close();
  const { sent, unexpected } = tally;
  const latencies = Float64Array.from(tally.latencies).sort();
  const quantile = (q) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))] ?? Number.NaN;
  return { sent, unexpected, seconds, requests: latencies.length, p50: quantile(0.5), p99: quantile(0.99) };
}

function loop(connection, next, expects, tally) {
  return new Promise((resolve, reject) => {
    let began = 0;
    const send = () => {
      began = performance.now();
      connection.send(next(), onResponse, reject);
    };
    const onResponse = (status) => {
      tally.sent += 1;
      if (status !== expects) tally.unexpected[status] = (tally.unexpected[status] ?? 0) + 1;
      else if (tally.recording) tally.latencies.push(performance.now() - began);
      if (tally.stopped) resolve();
      else send();
    };
    send();
  });
}

async function exchange(connection, request, status, tally) {
  tally.sent += 1;
  const response = await connection.exchange(request);
  if (response.status !== status)
    throw new Error(`${response.status} instead of ${status}: ${response.body.slice(0, 300)}`);
  return { json: JSON.parse(response.body) };
}

/** Sends each token once, so that the bench measures requests with a verified token. */
async function greet({ port }) {
  const connection = await Connection.open(port);
  for (const caller of callers) await exchange(connection, introduce(caller), 200, { sent: 0 });
  connection.close();
}

process.on('message', (order) => {
  const work = order.type === 'greet' ? greet(order) : leg(order);
  work.then(
    (result) => process.send({ type: 'done', result }),
    (error) => process.send({ type: 'failed', message: String(error?.stack ?? error) }),
  );
});
