import { Connection } from './connection.mjs';
import { OPERATIONS } from './operations.mjs';

const REQUESTS = 5;
const TRIES = 8;

/**
 * Database round trips of one request. Some work goes on beside the requests (access changes are polled, events are
 * delivered); a few requests in a row, tried several times, find a moment without it.
 */
export async function tripsPerRequest(server, operation, callers) {
  const { expects, prepare } = OPERATIONS[operation];
  const connection = await Connection.open(server.port);
  const exchange = async (request, status) => {
    const answer = await connection.exchange(request);
    if (answer.status !== status) throw new Error(`${answer.status} instead of ${status} to ${operation}`);
    return { json: JSON.parse(answer.body) };
  };
  const next = await prepare(callers, exchange);
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < TRIES; n++) {
    const before = await roundTrips(server);
    for (let sent = 0; sent < REQUESTS; sent++) await exchange(next(), expects);
    least = Math.min(least, ((await roundTrips(server)) - before) / REQUESTS);
  }
  connection.close();
  return least;
}

async function roundTrips(server) {
  return Number(/^database_round_trips_total (\S+)$/m.exec(await server.metrics())?.[1]);
}
