// Two servers that take turns under the same load: rates, times and processor time of a request.
import { Connection } from './connection.mjs';
import { databaseCpu } from './processes.mjs';

/**
 * Server, floor, floor, server: the drift of a busy machine cancels out. The idle one is stopped.
 * @param request `(n, turn) => text of a request`; `n` never repeats, `turn` is `server` or `floor`
 * @returns for `server` and `floor`: `rate` (requests a second), `p50` (milliseconds), `cpu` and `databaseCpu` (microseconds a request)
 */
export async function takeTurns({ server, floor, databaseUrl, request, connections, seconds }) {
  const legs = { server: [], floor: [] };
  for (const turn of ['server', 'floor', 'floor', 'server']) {
    const [active, idle] = turn === 'server' ? [server, floor] : [floor, server];
    idle.pause();
    active.resume();
    const next = () => request((counter += 1), turn);
    legs[turn].push(await leg({ active, databaseUrl, request: next, connections, seconds }));
    idle.resume();
  }
  const mean = ([one, other]) =>
    Object.fromEntries(Object.keys(one).map((key) => [key, (one[key] + other[key]) / 2]));
  return { server: mean(legs.server), floor: mean(legs.floor) };
}

let counter = 0;

/** Closed-loop connections for some seconds. */
async function leg({ active, databaseUrl, request, connections, seconds }) {
  const processor = [active.cpu, await databaseCpu(databaseUrl)];
  const began = performance.now();
  const end = began + seconds * 1000;
  const times = [];
  const loop = async () => {
    const connection = await Connection.open(active.port);
    while (performance.now() < end) {
      const text = request();
      const sent = performance.now();
      const { status, body } = await connection.exchange(text);
      if (status !== 200 && status !== 201) throw new Error(`${status} ${body.slice(0, 300)}`);
      times.push(performance.now() - sent);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const elapsed = (performance.now() - began) / 1000;
  const each = (total) => (1e6 * total) / times.length;
  return {
    rate: times.length / elapsed,
    p50: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)],
    cpu: each(active.cpu - processor[0]),
    databaseCpu: each((await databaseCpu(databaseUrl)) - processor[1]),
  };
}
