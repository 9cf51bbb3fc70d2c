import { HttpService } from '@nestjs/axios';
import { Injectable, Logger } from '@nestjs/common';
import axios, {
  AxiosError,
  type AxiosAdapter,
  AxiosHeaders,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
  isAxiosError,
} from 'axios';
import { Config } from '../../../config/config.js';
import type { ClientDeparture } from '../../../platform/http/abort-signal.js';
import type { ApiError } from '../../../platform/http/api-error.js';
import { MailErrors } from '../mail.errors.js';
import type { AnswerBody } from './answer-body.js';
import { jsonBytes } from './json-pieces.js';

/** A request to the mail service, all of it made by us. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Segments of the path, each a word or an id that has been checked. */
  path: readonly (string | number)[];
  query?: URLSearchParams;
  /** Sent as JSON. */
  body?: object;
  accept?: string;
  /** Milliseconds that may pass without anything coming, where that is less than for any request. */
  timeout?: number;
}

/** The head of an answer, and its body still to come. Somebody has to read or destroy the body. */
export interface UpstreamAnswer {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: AnswerBody;
}

/**
 * Asks the mail service: what goes out, time-outs, what a broken answer is. Knows nothing of mail.
 *
 * It calls the adapter of Nest's axios instance: merging configurations, which are always the same here, and running
 * interceptors, of which there are none, would cost more than the exchange itself.
 */
@Injectable()
export class MailUpstream {
  private readonly logger = new Logger('Mail');
  private readonly adapter: AxiosAdapter;
  /** Where the mail service is; null when there is none. */
  private readonly base: string | null;

  constructor(
    { axiosRef }: HttpService,
    private readonly config: Config,
  ) {
    this.adapter = axios.getAdapter(axiosRef.defaults.adapter);
    this.base = config.mailService?.url ?? null;
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
    signal?: ClientDeparture,
  ): Promise<UpstreamAnswer> {
    const config = this.exchange(request, token, signal);
    try {
      return answerOf(await this.adapter(config));
    } catch (error) {
      // The service may close a connection just as we use it again. A read may be repeated, nothing else.
      if (request.method !== 'GET' || !isCut(error)) throw this.failure(error, signal);
    }
    return this.adapter(config).then(answerOf, (error: unknown) => {
      throw this.failure(error, signal);
    });
  }

  /** The answer that there was no usable one; why is for the log. */
  failed(reason: string, code?: string): ApiError {
    this.logger.warn({ reason, code }, 'the mail service gave no usable answer');
    return MailErrors.proxyFailed.with();
  }

  private exchange(
    { method, path, query, body, accept, timeout }: UpstreamRequest,
    token: string | undefined,
    signal: ClientDeparture | undefined,
  ): InternalAxiosRequestConfig {
    if (this.base === null) throw MailErrors.unavailable.with();
    const longest = this.config.MAIL_SERVICE_TIMEOUT_MS;
    const search = query?.size ? `?${query.toString()}` : '';
    return {
      method,
      headers: headersOf(accept ?? 'application/json', token, body !== undefined),
      data: body && jsonBytes(body),
      baseURL: this.base,
      url: `/${path.join('/')}${search}`,
      timeout: Math.min(timeout ?? longest, longest),
      ...(signal && { signal }),
    };
  }

  private failure(error: unknown, signal: ClientDeparture | undefined): unknown {
    if (signal?.reason) return signal.reason;
    if (!isAxiosError(error)) return error;
    if (error.code === AxiosError.ECONNABORTED) return this.failed('no answer in time');
    return this.failed('no answer', error.code);
  }
}

/** These and no others go out. */
function headersOf(accept: string, token: string | undefined, hasBody: boolean): AxiosHeaders {
  const headers = new AxiosHeaders();
  headers['Accept'] = accept;
  headers['Accept-Encoding'] = 'identity';
  headers['User-Agent'] = 'workspace';
  if (token !== undefined) headers['X-Access-Token'] = token;
  if (hasBody) headers['Content-Type'] = 'application/json';
  return headers;
}

const answerOf = ({ status, headers, data }: AxiosResponse): UpstreamAnswer => ({
  status,
  headers: headers as UpstreamAnswer['headers'],
  body: data as AnswerBody,
});

/** The connection broke before an answer began. */
const isCut = (error: unknown): boolean =>
  isAxiosError(error) && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(error.code ?? '');
