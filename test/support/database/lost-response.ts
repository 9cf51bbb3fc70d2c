import type { Socket } from 'node:net';
import type pg from 'pg';

/** The error of a socket whose connection is lost. @param code of the system, e.g. `ECONNRESET` */
export const socketError = (code: string): Error => Object.assign(new Error(`read ${code}`), { code });

/**
 * Loses the connection when the response to a statement arrives: PostgreSQL has executed it, and the client gets the error.
 * @param text of the statement
 */
export function loseResponse<Client extends pg.Client>(client: Client, text: string, error: Error): Client {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const emit = stream.emit.bind(stream) as (...args: unknown[]) => boolean;
  let isSent = false;
  client.query = ((...args: unknown[]) => {
    isSent ||= args[0] === text;
    return query(...args);
  }) as typeof client.query;
  stream.emit = (...args: unknown[]): boolean => {
    if (!isSent || args[0] !== 'data') return emit(...args);
    stream.destroy(error);
    return true;
  };
  return client;
}
