import { delay } from './delay.js';
import { keepRequest } from './kept-requests.js';
import { secondsOf } from './retry-after.js';
import type { Transport } from './transport.js';

/**
 * Returns a valid access token, or undefined while nobody is signed in.
 * @param rejected the token that the service has just rejected
 */
export type TokenSource = (rejected?: string) => Promise<string | undefined> | string | undefined;

/** How often and how long a call repeats its request. */
export interface RetryOptions {
  /** Attempts of a call, the first one included. */
  attempts: number;
  /** Milliseconds that a call waits between its attempts, in all. A longer Retry-After ends the call with its error. */
  maxWaitMs: number;
}

const DEFAULTS: RetryOptions = { attempts: 4, maxWaitMs: 30_000 };
const READS = new Set(['GET', 'HEAD']);
const CONFLICT = 409;
const TOO_MANY_REQUESTS = 429;
const TEMPORARY = new Set([TOO_MANY_REQUESTS, 502, 503, 504]);
/** Milliseconds before the second attempt without a Retry-After; doubles with each attempt. */
const BACKOFF_MS = 200;

type Outcome = { response: Response } | { error: unknown };

/**
 * Sends requests with the access token, and repeats what can succeed: reads, and writes with an Idempotency-Key, after a failure of
 * the network or of the service. Other writes only after 429, which the service returns before it does anything.
 */
export class Sender {
  private readonly retry: RetryOptions;

  constructor(
    private readonly fetch: Transport,
    private readonly token: TokenSource | undefined,
    retry: Partial<RetryOptions> = {},
  ) {
    this.retry = { ...DEFAULTS, ...retry };
  }

  /**
   * @param transport sends each attempt, which is a copy of the request with the token
   * @throws the error of the last attempt, or the reason of the signal of the request
   */
  async send(request: Request, transport: Transport = this.fetch): Promise<Response> {
    // The application may set another token.
    const source = request.headers.has('Authorization') ? undefined : this.token;
    let token = await source?.();
    let isRenewed = false;
    let waitLeft = this.retry.maxWaitMs;
    for (let attempts = 1; ;) {
      const attempt = withToken(request, token);
      const outcome = await settle(keepRequest(request, keepRequest(attempt, transport(attempt))));
      if (isUnauthorized(outcome) && token !== undefined && !isRenewed) {
        const renewed = await source?.(token);
        if (renewed === undefined || renewed === token) return unpack(outcome);
        [token, isRenewed] = [renewed, true];
        await discard(outcome);
        continue;
      }
      const wait = this.waitAfter(outcome, request, attempts);
      if (wait === undefined || wait > waitLeft) return unpack(outcome);
      attempts += 1;
      waitLeft -= wait;
      await discard(outcome);
      await delay(wait, request.signal);
    }
  }

  /** @returns milliseconds to wait for the next attempt; undefined: there is none */
  private waitAfter(outcome: Outcome, request: Request, attempts: number): number | undefined {
    if (attempts >= this.retry.attempts || request.signal?.aborted) return undefined;
    const isRepeatable = READS.has(request.method) || request.headers.has('Idempotency-Key');
    const backoff = BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + Math.random() / 2);
    if ('error' in outcome) return isRepeatable ? backoff : undefined;
    const { status, headers } = outcome.response;
    const seconds = secondsOf(headers.get('Retry-After'));
    // 409 `request_in_flight`: the service still executes an attempt whose connection was lost.
    const isTemporary = TEMPORARY.has(status) || (status === CONFLICT && seconds !== undefined);
    if (!isTemporary || !(isRepeatable || status === TOO_MANY_REQUESTS)) return undefined;
    return seconds === undefined ? backoff : seconds * 1_000;
  }
}

/** A copy with the signal of the request. That of a mere clone does not end with it once Node has collected the controller of the clone. */
function withToken(request: Request, token: string | undefined): Request {
  const attempt = new Request(request.clone(), { signal: request.signal });
  if (token !== undefined) attempt.headers.set('Authorization', `Bearer ${token}`);
  return attempt;
}

const isUnauthorized = (outcome: Outcome): boolean =>
  'response' in outcome && outcome.response.status === 401;

function settle(sending: Promise<Response>): Promise<Outcome> {
  return sending.then(
    (response) => ({ response }),
    (error: unknown) => ({ error }),
  );
}

function unpack(outcome: Outcome): Response {
  if ('error' in outcome) throw outcome.error;
  return outcome.response;
}

/** Frees the connection of a response that is not read. */
async function discard(outcome: Outcome): Promise<void> {
  if ('response' in outcome) await outcome.response.body?.cancel();
}
