// Closed-loop load on a server and its floor, which take turns.
import { Connection } from './connection.mjs';
import { print } from './workspace.mjs';

/** Lines of headers. */
export function headOf(headers) {
  return Object.entries({ Host: 'bench', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** A request with a JSON body. */
export function jsonRequest(method, path, headers, value) {
  const body = JSON.stringify(value);
  const length = Buffer.byteLength(body);
  return `${method} ${path} HTTP/1.1\r\n${headOf({ ...headers, 'Content-Type': 'application/json', 'Content-Length': length })}\r\n${body}`;
}

/** Latencies in milliseconds: rate in requests a second, p50 and p99. */
export function summaryOf(times, milliseconds) {
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
  return { rate: (1000 * times.length) / milliseconds, p50: quantile(0.5), p99: quantile(0.99) };
}

/**
 * Connections that each send a request after the previous response.
 * @param next returns the text of the next request
 * @param ended ends the load early
 */
export async function load(port, next, { connections, seconds, ended = () => false }) {
  const end = performance.now() + seconds * 1000;
  const times = [];
  const loop = async () => {
    const connection = await Connection.open(port);
    while (performance.now() < end && !ended()) {
      const began = performance.now();
      const { status, body } = await connection.exchange(next());
      if (status !== 200 && status !== 201) throw new Error(`${status} ${body.slice(0, 300)}`);
      times.push(performance.now() - began);
    }
    connection.close();
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, loop));
  return summaryOf(times, performance.now() - began);
}

/** Seconds of load before the measurement, so that both processes have compiled their code. */
const WARM_UP_SECONDS = 2;

/** Server, floor, floor, server: the drift of a busy machine cancels out. Prints the shares. */
export async function compare({ application, floor, seconds }, name, next, connections) {
  for (const { port } of [application, floor])
    await load(port, next, { connections, seconds: WARM_UP_SECONDS });
  const legs = { application: [], floor: [] };
  for (const turn of ['application', 'floor', 'floor', 'application']) {
    const [active, idle] = turn === 'floor' ? [floor, application] : [application, floor];
    idle.pause();
    const cpu = active.cpu;
    const leg = await load(active.port, next, { connections, seconds });
    legs[turn].push({ ...leg, cpu: (active.cpu - cpu) / leg.rate });
    idle.resume();
  }
  const mean = (turn, key) => (legs[turn][0][key] + legs[turn][1][key]) / 2;
  const share = (key, up, down) => `${((100 * mean(up, key)) / mean(down, key)).toFixed(0)} %`;
  const times = (turn) => `${((1e6 * mean(turn, 'cpu')) / seconds).toFixed(0)} us`;
  print(
    `${name.padEnd(14)} ${String(connections).padStart(2)} conn.: ${share('rate', 'application', 'floor')} of the floor, processor time ${share('cpu', 'floor', 'application')} (${times('application')}, ${times('floor')}), ${mean('application', 'rate').toFixed(0)}/s, p50 ${mean('application', 'p50').toFixed(2)} ms, p99 ${mean('application', 'p99').toFixed(2)} ms`,
  );
}
