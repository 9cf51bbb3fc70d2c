import type { Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** Bytes that a connection has received since it was opened. pg does not show its socket. */
export const receivedBy = (client: ClientBase): number =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream.bytesRead;
