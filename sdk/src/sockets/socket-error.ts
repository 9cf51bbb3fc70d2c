import type { Rejection } from '../generated/events.js';

/** The code of an event whose acknowledgement did not arrive in time, on a connection that is not lost. */
export const UNACKNOWLEDGED = 'timeout';

/**
 * The rejection of an event, with the codes of the HTTP operations; or `disconnected` or `timeout`: it is unknown whether the server
 * received it.
 */
export class SocketError extends Error {
  override readonly name = 'SocketError';
  readonly code: string;
  /** The HTTP status of the same error; 0 for `disconnected` and `timeout`. */
  readonly status: number;
  /** Seconds until the next attempt, with status 429. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly rejection: Pick<Rejection, 'status' | 'error' | 'message' | 'retry_after' | 'details'>,
  ) {
    super(rejection.message);
    this.code = rejection.error;
    this.status = rejection.status;
    this.retryAfter = rejection.retry_after;
  }
}

export const disconnected = (): SocketError =>
  new SocketError({ status: 0, error: 'disconnected', message: 'The connection is lost.' });

export const unacknowledged = (): SocketError =>
  new SocketError({ status: 0, error: UNACKNOWLEDGED, message: 'The server did not answer in time.' });
