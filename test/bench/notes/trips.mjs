import { Connection } from '../support/connection.mjs';
import { OPERATIONS } from './operations/operations.mjs';

const REQUESTS = 5;
const TRIES = 20;

/**
 * Database round trips of one request. Background work (polling access changes, delivering events) also queries the database,
 * so this is the minimum of several short series of requests.
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

/** Runs the preparation of the operation at the server. @returns its fixtures; undefined if it has no preparation */
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
