import type { Response } from 'express';
import { ClientDisconnectedError } from '../http/abort-signal.js';
import type { ConcurrencyLimiter, Lease } from '../workers/concurrency-limiter.js';

/**
 * A place of the limiter until the response has closed.
 * @throws QueueFullError, or ClientDisconnectedError when the client disconnects while the request waits
 */
export async function leaseUntilClosed(limiter: ConcurrencyLimiter, response: Response): Promise<Lease> {
  if (response.closed) throw new ClientDisconnectedError();
  const disconnected = new AbortController();
  let lease: Lease | undefined;
  // Node warns of more than ten listeners, which a response of a file has with those of several places.
  response.setMaxListeners(response.getMaxListeners() + 1);
  response.once('close', () => {
    if (lease) lease.release();
    else disconnected.abort(new ClientDisconnectedError());
  });
  lease = await limiter.take(disconnected.signal);
  if (!response.closed) return lease;
  lease.release();
  throw new ClientDisconnectedError();
}
