import { Injectable } from '@nestjs/common';

/** Limits of the sockets of one process. Tests shorten them. */
@Injectable()
export class RealtimeOptions {
  /** Seconds until a socket closes unless the client refreshes it. */
  lifetimeSeconds = 3_600;
  /** Seconds before the end at which the event `auth.expiring` is sent. */
  warningSeconds = 120;
  /** Milliseconds from the connection to a valid token. */
  connectMs = 5_000;
  /** Connections without a valid token, of all clients. */
  maxUnauthenticated = 1_000;
  maxPerUser = 20;
  /** Bytes of one message of a client. */
  maxFrameBytes = 64 * 1024;
  /** Events of one user: a bucket of `burst` that refills with `perSecond`. */
  perSecond = 10;
  burst = 40;
  /** Rejected events in a row after which the socket closes. */
  maxRejected = 100;
  /** Bytes that wait for a slow client: beyond the first limit volatile events are dropped, beyond the second it is closed. */
  volatileBytes = 1024 * 1024;
  closeBytes = 4 * 1024 * 1024;
}
