import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { HttpService } from '@nestjs/axios';
import { Injectable, Logger } from '@nestjs/common';
import axios, {
  type AxiosAdapter,
  AxiosError,
  AxiosHeaders,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
  isAxiosError,
} from 'axios';
import { Config } from '../../config/config.js';
import { BLOB_STORE } from '../../platform/blobs/blobs.js';
import type { ClientDisconnect } from '../../platform/http/abort-signal.js';
import { type ApiError, Errors } from '../../platform/http/errors.js';
import { STORAGE_RETRY_AFTER } from '../../platform/http/server/exception.filter.js';
import { DATABASE_STORAGE, Dependencies } from '../../platform/observability/dependencies.js';
import { runTraced } from '../../platform/telemetry/tracer.js';
import { MailErrors } from './mail.response.js';
import { readJson, type UpstreamResponse } from './upstream-response.js';
import type { ResponseBody } from './upstream/response-body.js';

/** Strings of more characters are written in pieces. */
const LONG = 64 * 1024;

/**
 * Serialises a value as JSON. Long strings, e.g. the contents of attachments, are streamed in pieces: otherwise a message
 * with megabytes of attachments would be in memory twice more, as text and as bytes.
 */
export function jsonBytes(value: object): Buffer | Readable {
  const long: string[] = [];
  const marker = randomBytes(16).toString('hex');
  const short = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'string' && member.length > LONG ? `${marker}${long.push(member) - 1}.` : member,
  );
  if (long.length === 0) return Buffer.from(short);
  return Readable.from(pieces(short.split(marker), long), { objectMode: false });
}

/** @param texts the text before the first long string, then the text after each, preceded by its index and a full stop */
async function* pieces(texts: string[], long: readonly string[]): AsyncGenerator<Buffer> {
  const [first = '', ...following] = texts;
  yield Buffer.from(first);
  for (const text of following) {
    const stop = text.indexOf('.');
    const string = long[Number(text.slice(0, stop))] as string;
    // JSON.stringify escapes half a surrogate pair, so a piece may end within a pair.
    for (let at = 0; at < string.length; at += LONG)
      yield Buffer.from(JSON.stringify(string.slice(at, at + LONG)).slice(1, -1));
    yield Buffer.from(text.slice(stop + 1));
  }
}

/** Status of the embedded mail service when a disk is full. */
const STORAGE_FULL = 507;

/** A request to the mail service. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path segments: words and checked ids. */
  path: readonly (string | number)[];
  query?: URLSearchParams;
  /** Sent as JSON. */
  body?: object;
  accept?: string;
  /** Idle timeout in milliseconds; MAIL_SERVICE_TIMEOUT_MS is the maximum and the default. */
  timeout?: number;
}

/**
 * The HTTP client for the mail service: headers, timeouts, repeated reads, failures.
 *
 * It calls the adapter of Nest's axios instance directly. `axios.request` would merge configurations that are always the
 * same and run interceptors that do not exist, which costs as much as the exchange itself (adr/0015).
 */
@Injectable()
export class MailUpstream {
  private readonly logger = new Logger('Mail');
  private readonly adapter: AxiosAdapter;
  /** Null when no mail service is configured. */
  private readonly base: string | null;

  constructor(
    { axiosRef }: HttpService,
    private readonly config: Config,
    private readonly dependencies: Dependencies,
  ) {
    this.adapter = axios.getAdapter(axiosRef.defaults.adapter);
    this.base = config.mailService?.url ?? null;
  }

  /**
   * Sends a request and resolves with the head of the response.
   *
   * @param token of the mail service, sent as `X-Access-Token`
   * @param signal cancels the request, also while the body arrives
   * @throws ApiError 503 `mail_service_unavailable`, 507 `storage_full`, 500 `Proxy failed`; the signal's reason
   */
  async send(
    request: UpstreamRequest,
    token: string | undefined,
    signal?: ClientDisconnect,
  ): Promise<UpstreamResponse> {
    const config = this.configOf(request, token, signal);
    const response = await runTraced(
      () => ({ ...spanOf(request), kind: 'client', position: 'child' }),
      async (span) => {
        span.inject(config.headers);
        const head = responseOf(await this.exchange(config, signal));
        span.set({ 'http.response.status_code': head.status });
        if (head.status >= 500) span.fail(String(head.status));
        return head;
      },
    );
    if (response.status === STORAGE_FULL) throw await this.storageFull(response);
    return response;
  }

  private async exchange(
    config: InternalAxiosRequestConfig,
    signal: ClientDisconnect | undefined,
  ): Promise<AxiosResponse> {
    try {
      return await this.adapter(config);
    } catch (error) {
      // The service may close an idle connection while we reuse it. Only reads can be repeated safely.
      if (config.method !== 'GET' || !isConnectionLost(error)) throw this.failure(error, signal);
    }
    return this.adapter(config).catch((error: unknown) => {
      throw this.failure(error, signal);
    });
  }

  /** The embedded mail service reports a full disk, which this process shares. */
  private async storageFull(response: UpstreamResponse): Promise<ApiError> {
    const { code, stream } = await readJson(response);
    stream?.destroy();
    this.dependencies.reportFull(code === 'DatabaseStorageFull' ? DATABASE_STORAGE : BLOB_STORE);
    return Errors.storageFull.with(STORAGE_RETRY_AFTER);
  }

  /** Logs the reason and returns the error for the client. */
  reportFailure(reason: string, code?: string): ApiError {
    this.logger.warn({ reason, code }, 'the mail service sent no usable response');
    return MailErrors.proxyFailed.with();
  }

  private configOf(
    { method, path, query, body, accept, timeout }: UpstreamRequest,
    token: string | undefined,
    signal: ClientDisconnect | undefined,
  ): InternalAxiosRequestConfig {
    if (this.base === null) throw MailErrors.unavailable.with();
    const maximum = this.config.MAIL_SERVICE_TIMEOUT_MS;
    const search = query?.size ? `?${query.toString()}` : '';
    return {
      method,
      headers: headersOf(accept ?? 'application/json', token, body !== undefined),
      data: body && jsonBytes(body),
      baseURL: this.base,
      url: `/${path.join('/')}${search}`,
      timeout: Math.min(timeout ?? maximum, maximum),
      ...(signal && { signal }),
    };
  }

  private failure(error: unknown, signal: ClientDisconnect | undefined): unknown {
    if (signal?.reason) return signal.reason;
    if (!isAxiosError(error)) return error;
    if (error.code === AxiosError.ECONNABORTED) return this.reportFailure('timeout');
    return this.reportFailure('no response', error.code);
  }
}

/** Name and attributes of the span of a request. Ids are not recorded. */
function spanOf({ method, path }: UpstreamRequest) {
  const template = `/${path.map((segment) => (/^[a-z]+$/.test(String(segment)) ? segment : ':id')).join('/')}`;
  return {
    name: `${method} ${template}`,
    attributes: { 'http.request.method': method, 'url.template': template, 'peer.service': 'mail-service' },
  };
}

/** All headers of a request: none of the client's headers is forwarded. */
function headersOf(accept: string, token: string | undefined, hasBody: boolean): AxiosHeaders {
  const headers = new AxiosHeaders();
  headers['Accept'] = accept;
  headers['Accept-Encoding'] = 'identity';
  headers['User-Agent'] = 'workspace';
  if (token !== undefined) headers['X-Access-Token'] = token;
  if (hasBody) headers['Content-Type'] = 'application/json';
  return headers;
}

const responseOf = ({ status, headers, data }: AxiosResponse): UpstreamResponse => ({
  status,
  headers: headers as UpstreamResponse['headers'],
  body: data as ResponseBody,
});

/** The connection broke before a response began. */
const isConnectionLost = (error: unknown): boolean =>
  isAxiosError(error) && ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(error.code ?? '');
