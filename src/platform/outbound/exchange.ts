import type { Agent, Dispatcher } from 'undici';
import { OutboundHttpError } from './outbound-http-error.js';

export interface OutboundRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | null;
  /** For the whole exchange, from the connection to the last byte. */
  timeoutMs: number;
  /** Bytes of the response that are read. */
  maxBytes: number;
  /** A longer response: `reject` is an error `too_large`, `cut` ends the connection after `maxBytes`. */
  longer: 'reject' | 'cut';
  /** Ends the request early. */
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * One request and its response, by undici's handlers: its streams and signals take as much processor time again.
 * @throws OutboundHttpError `timeout`, `too_large`, `aborted`; the errors of undici otherwise
 */
export function exchange(agent: Agent, url: URL, request: OutboundRequest): Promise<OutboundResponse> {
  const { method = 'GET', headers = {}, body = null, timeoutMs, maxBytes, longer, signal } = request;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let controller: Dispatcher.DispatchController | undefined;
    let start: Omit<OutboundResponse, 'body'> = { status: 0, headers: {} };
    let isSettled = false;

    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const finish = () => {
      settle();
      resolve({ ...start, body: Buffer.concat(chunks).subarray(0, maxBytes) });
    };
    const fail = (error: Error) => {
      if (isSettled) return;
      settle();
      reject(error);
      controller?.abort(error);
    };
    const onAbort = () => fail(new OutboundHttpError('aborted', 'the request was ended'));
    const timer = setTimeout(
      () =>
        fail(new OutboundHttpError('timeout', `${url.href} did not respond within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);

    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        body,
      },
      {
        onRequestStart: (given) => {
          controller = given;
          // It ended while it waited for a connection.
          if (isSettled) controller.abort(new Error('ended'));
        },
        onResponseStart: (_, status, received) => {
          start = { status, headers: received };
        },
        onResponseData: (given, chunk) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size <= maxBytes) return;
          if (longer === 'reject')
            return fail(
              new OutboundHttpError('too_large', `the response is larger than ${maxBytes / 1024} KiB`),
            );
          finish();
          given.abort(new Error('cut'));
        },
        onResponseEnd: finish,
        onResponseError: (_, error) => fail(error),
      },
    );
  });
}
