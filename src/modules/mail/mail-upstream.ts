import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { HttpService } from '@nestjs/axios';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import axios, { AxiosHeaders, type GenericAbortSignal, isAxiosError } from 'axios';
import { Config } from '../../config/config.js';
import type { ApiError } from '../../platform/http/api-error.js';
import { MailErrors } from './mail.errors.js';

/** A request to the mail service, all of it made by us. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Segments of the path, each a word or an id that has been checked. */
  path: readonly (string | number)[];
  query?: URLSearchParams;
  /** Sent as JSON. */
  body?: object;
  accept?: string;
  /** Milliseconds until the answer must have begun, where that is less than for any request. */
  timeout?: number;
}

/** The head of an answer, and its body still to come. Somebody has to read or destroy the body. */
export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: IncomingMessage;
}

/** WildDuck closes idle connections after 5 s: ours are closed before that. */
const IDLE_MS = 4_000;

/** What every request has in common: nothing is followed, guessed, unpacked or refused by its status. */
const PLAIN = {
  responseType: 'stream',
  maxRedirects: 0,
  maxBodyLength: -1,
  maxContentLength: -1,
  timeout: 0,
  proxy: false,
  decompress: false,
  validateStatus: null,
} as const;

/**
 * Speaks HTTP with the mail service: connections, time-outs, what a broken answer is. Knows nothing of mail.
 *
 * It calls the adapter of Nest's axios instance: merging configurations, which are always the same here, and running
 * interceptors, of which there are none, would cost more than the exchange itself.
 */
@Injectable()
export class MailUpstream implements OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly httpAgent = new HttpAgent({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
  private readonly httpsAgent = new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
  private readonly adapter: ReturnType<typeof axios.getAdapter>;

  constructor(
    { axiosRef }: HttpService,
    private readonly config: Config,
  ) {
    this.adapter = axios.getAdapter(axiosRef.defaults.adapter);
  }

  onApplicationShutdown(): void {
    this.httpAgent.destroy();
    this.httpsAgent.destroy();
  }

  /**
   * Sends a request and waits for the head of the answer.
   *
   * @param token of the mail service, in its own header
   * @param signal breaks it off, also while the body comes
   * @throws ApiError 503 `mail_service_unavailable`, 500 `Proxy failed`; the signal's reason
   */
  async send(
    request: UpstreamRequest,
    token: string | undefined,
    signal?: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const service = this.config.mailService;
    if (service === null) throw MailErrors.unavailable.with();
    const query = request.query?.size ? `?${request.query.toString()}` : '';
    const url = `${service.url}/${request.path.join('/')}${query}`;
    try {
      return await this.exchange(url, request, token, signal);
    } catch (error) {
      // The service may close a connection just as we use it again. A read may be repeated, nothing else.
      if (request.method !== 'GET' || !isStale(error)) throw this.failure(error, signal);
    }
    return this.exchange(url, request, token, signal).catch((error: unknown) => {
      throw this.failure(error, signal);
    });
  }

  /** The answer that there was no usable one; why is for the log. */
  failed(reason: string, code?: string): ApiError {
    this.logger.warn({ reason, code }, 'the mail service gave no usable answer');
    return MailErrors.proxyFailed.with();
  }

  private async exchange(
    url: string,
    request: UpstreamRequest,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<UpstreamAnswer> {
    signal?.throwIfAborted();
    const longest = this.config.MAIL_SERVICE_TIMEOUT_MS;
    const timeout = Math.min(request.timeout ?? longest, longest);
    const stop = new Stop();
    const late = setTimeout(() => stop.abort(true), timeout);
    const gone = (): void => stop.abort(false);
    signal?.addEventListener('abort', gone);
    const forget = (): void => signal?.removeEventListener('abort', gone);
    const { httpAgent, httpsAgent } = this;
    const agents = { httpAgent, httpsAgent };
    try {
      const response = await this.adapter({
        ...PLAIN,
        ...agents,
        ...sent(request, token),
        url,
        signal: stop,
      });
      const answer = response.data as IncomingMessage;
      answer.once('close', forget);
      endWhenIdle(answer, timeout);
      return { status: response.status, headers: answer.headers, body: answer };
    } catch (error) {
      forget();
      throw stop.late ? new LateError() : error;
    } finally {
      clearTimeout(late);
    }
  }

  private failure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof LateError) return this.failed('no answer in time');
    return this.failed('no answer', isAxiosError(error) ? error.code : (error as Error).name);
  }
}

/** What goes out: these headers and no others. */
function sent({ method, body, accept = 'application/json' }: UpstreamRequest, token: string | undefined) {
  const headers = new AxiosHeaders({
    Accept: accept,
    'Accept-Encoding': 'identity',
    'User-Agent': 'workspace',
  });
  if (token !== undefined) headers.set('X-Access-Token', token);
  if (body === undefined) return { method, headers };
  headers.set('Content-Type', 'application/json');
  return { method, headers, data: Buffer.from(JSON.stringify(body)) };
}

class LateError extends Error {}

/** As much of an abort signal as axios listens to; a whole one is a dear part of a small request. */
class Stop implements GenericAbortSignal {
  aborted = false;
  late = false;
  private readonly listeners = new Set<(event: object) => void>();

  addEventListener(_type: string, listener: (event: object) => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_type: string, listener: (event: object) => void): void {
    this.listeners.delete(listener);
  }

  /** @param late the time is up */
  abort(late: boolean): void {
    if (this.aborted) return;
    this.aborted = true;
    this.late = late;
    for (const listener of this.listeners) listener({ type: 'abort' });
  }
}

/** The connection had served before and was closed under us: the request was not read. */
function isStale(error: unknown): boolean {
  if (!isAxiosError(error) || (error.code !== 'ECONNRESET' && error.code !== 'EPIPE')) return false;
  return (error.request as { reusedSocket?: boolean } | undefined)?.reusedSocket === true;
}

/** Breaks an answer off when nothing of it comes (or is taken) for so long. */
function endWhenIdle(body: IncomingMessage, timeout: number): void {
  const { socket } = body;
  const idle = () => void body.destroy(new Error('the answer stopped coming'));
  socket.setTimeout(timeout);
  socket.on('timeout', idle);
  body.once('close', () => socket.off('timeout', idle));
  // Whoever reads it hears of errors; until then nobody does.
  body.on('error', () => undefined);
}
