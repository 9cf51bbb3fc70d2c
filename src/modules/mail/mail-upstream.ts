import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { HttpService } from '@nestjs/axios';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isAxiosError } from 'axios';
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
}

/** The head of an answer, and its body still to come. Somebody has to read or destroy the body. */
export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: IncomingMessage;
}

/** WildDuck closes idle connections after 5 s: ours are closed before that. */
const IDLE_MS = 4_000;

/** Speaks HTTP with the mail service: connections, time-outs, what a broken answer is. Knows nothing of mail. */
@Injectable()
export class MailUpstream implements OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly httpAgent = new HttpAgent({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });
  private readonly httpsAgent = new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, scheduling: 'lifo' });

  constructor(
    private readonly http: HttpService,
    private readonly config: Config,
  ) {}

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
    { method, body, accept = 'application/json' }: UpstreamRequest,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<UpstreamAnswer> {
    const timeout = this.config.MAIL_SERVICE_TIMEOUT_MS;
    const late = AbortSignal.timeout(timeout);
    const stop = new AbortController();
    const abort = () => stop.abort();
    signal?.throwIfAborted();
    late.addEventListener('abort', abort);
    signal?.addEventListener('abort', abort);
    const forget = () => signal?.removeEventListener('abort', abort);
    try {
      const response = await this.http.axiosRef.request<IncomingMessage>({
        url,
        method,
        data: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
        headers: {
          Accept: accept,
          'Accept-Encoding': 'identity',
          'User-Agent': 'workspace',
          'Content-Type': body === undefined ? null : 'application/json',
          'X-Access-Token': token ?? null,
        },
        signal: stop.signal,
        responseType: 'stream',
        httpAgent: this.httpAgent,
        httpsAgent: this.httpsAgent,
        // Nothing is followed, guessed, unpacked or refused by its status: that is all decided here.
        maxRedirects: 0,
        proxy: false,
        decompress: false,
        validateStatus: null,
        transformRequest: [],
        transformResponse: [],
      });
      const answer = { status: response.status, headers: response.data.headers, body: response.data };
      answer.body.once('close', forget);
      endWhenIdle(answer.body, timeout);
      return answer;
    } catch (error) {
      forget();
      throw late.aborted && !signal?.aborted ? new LateError() : error;
    } finally {
      late.removeEventListener('abort', abort);
    }
  }

  private failure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    if (error instanceof LateError) return this.failed('no answer in time');
    return this.failed('no answer', isAxiosError(error) ? error.code : (error as Error).name);
  }
}

class LateError extends Error {}

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
