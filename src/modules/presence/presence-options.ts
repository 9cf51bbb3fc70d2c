import { Injectable } from '@nestjs/common';

/** Times of presence in one process. Tests shorten them. */
@Injectable()
export class PresenceOptions {
  /** Seconds after the last disconnect, or after the choice of `invisible`, until the status becomes `offline`. */
  graceSeconds = 10;
  /** Seconds between the heartbeats of a process. */
  heartbeatSeconds = 30;
  /** Seconds after which the sockets of a process without heartbeat expire. */
  lifetimeSeconds = 75;
  /** Milliseconds in which changes of sockets are collected: one statement writes them. */
  collectMs = 50;
}
