import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { rejectRequest } from './client-error.js';
import { Errors } from '../errors.js';

/** Time of a connection, milliseconds. */
const TIMEOUT_MS = 5_000;
const MESSAGE = 'The service is restarting; retry shortly.';

/** Responds 503 to every request of the connections that it is given. */
export class UnavailableServer {
  private readonly server = createServer((_request, response) =>
    rejectRequest(response, Errors.overloaded, { message: MESSAGE, headers: [['Retry-After', '2']] }),
  );

  /** @param socket a paused one that has read nothing */
  serve(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    this.server.emit('connection', socket);
    socket.resume();
  }
}
