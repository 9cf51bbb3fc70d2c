import { Connection } from '../support/connection.mjs';
import { OPERATIONS } from './operations/operations.mjs';

const REQUESTS = 5;
const TRIES = 20;

/**
 * Database round trips of one request. Some work goes on beside the requests (access changes are polled, events are
 * delivered); a few requests in a row, tried several times, find a moment without it.
 */
export async function tripsPerRequest(server, operation, { callers, fixtures }) {
  const { expects, prepare } = OPERATIONS[operation];
  const connection = await Connection.open(server.port);
  const exchange = exchanger(connection, operation);
  const next = await prepare({ callers, exchange, fixtures, n: 0 });
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < TRIES; n++) {
    const before = await roundTrips(server);
    for (let sent = 0; sent < REQUESTS; sent++) await exchange(next(), expects);
    least = Math.min(least, ((await roundTrips(server)) - before) / REQUESTS);
  }
  connection.close();
  return least;
}

/** What the operation needs to have been done, at the server, before it is measured; undefined where it needs nothing. */
export async function setUp(server, operation, { callers, large, connections }) {
  const connection = await Connection.open(server.port);
  const exchange = exchanger(connection, operation);
  const fixtures = await OPERATIONS[operation].setUp?.({ callers, large, connections, exchange });
  connection.close();
  return fixtures;
}

function exchanger(connection, operation) {
  return async (request, status) => {
    const response = await connection.exchange(request);
    if (response.status !== status)
      throw new Error(
        `${response.status} instead of ${status} to ${operation}: ${response.body.slice(0, 300)}`,
      );
    return { json: JSON.parse(response.body) };
  };
}

async function roundTrips(server) {
  return Number(/^database_round_trips_total\{process="primary"\} (\S+)$/m.exec(await server.metrics())?.[1]);
}
