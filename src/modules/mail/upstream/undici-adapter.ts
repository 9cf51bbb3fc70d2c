import type { Readable } from 'node:stream';
import {
  AxiosError,
  type AxiosAdapter,
  type AxiosResponse,
  CanceledError,
  type GenericAbortSignal,
  type InternalAxiosRequestConfig,
} from 'axios';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Dispatcher, Pool } from 'undici';
import { AnswerBody, type AnswerSource } from './answer-body.js';

/** WildDuck closes idle connections after 5 s: ours are closed before that. */
const IDLE_MS = 4_000;
/**
 * So much longer than the mail service may be silent may it take for an answer that is waited for as a whole. And so much
 * longer may we keep it waiting, for a client that takes its download slowly: sockets hold megabytes, which somebody on a
 * poor line takes minutes for, and only then is more asked for.
 */
const PATIENCE = 10;

/**
 * Lets axios speak HTTP/1.1 by undici's connection pool, which asks less than half of the processor time of node:http's
 * agent and client for a small exchange (docs/adr/0015). Of axios' settings it takes those of a plain exchange: `baseURL`,
 * `url`, `method`, `headers`, `data` as bytes or a stream of them, `signal`, and `timeout`: the milliseconds that may pass
 * without anything coming that is waited for. Nothing is followed, unpacked or judged by its status; the answer's `data` is
 * an `AnswerBody`.
 */
@Injectable()
export class UndiciAdapter implements OnApplicationShutdown {
  private readonly pools = new Map<string, Pool>();

  /** @throws AxiosError with undici's code, `ECONNABORTED` when it took too long; CanceledError */
  readonly request: AxiosAdapter = (config) => {
    const { origin, path } = split(config);
    const pool = this.pools.get(origin);
    return pool ? ask(pool, path, config) : this.open(origin).then((opened) => ask(opened, path, config));
  };

  /** Breaks off what is under way and closes all connections. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
  }

  /** undici is loaded when it is first needed: a process that serves no mail is 11 MB smaller. */
  private async open(origin: string): Promise<Pool> {
    const undici = await import('undici');
    const pool =
      this.pools.get(origin) ??
      new undici.Pool(origin, {
        allowH2: false,
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MS,
        // The time that may pass is measured here, from when the request was asked for.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
    this.pools.set(origin, pool);
    return pool;
  }
}

function ask(
  pool: Pool,
  path: string,
  config: InternalAxiosRequestConfig,
): Promise<AxiosResponse<AnswerBody>> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(config, resolve, reject);
    if (exchange.over) return;
    const { method, data: body } = config as { method: string; data?: Buffer | Readable };
    pool.dispatch({ method, path, headers: listOf(config.headers), body: body ?? null }, exchange);
  });
}

/** One request and its answer, as undici tells of them. */
class Exchange implements Dispatcher.DispatchHandler, AnswerSource {
  /** True when nothing more will come of it. */
  over = false;
  /** How often the time may run out while nothing is wanted. */
  private patience = 0;
  private controller: Dispatcher.DispatchController | null = null;
  private body: AnswerBody | null = null;
  private reason: Error | null = null;
  private readonly deadline: number;
  private readonly timer: NodeJS.Timeout;
  private readonly signal: GenericAbortSignal | undefined;

  constructor(
    private readonly config: InternalAxiosRequestConfig,
    private readonly resolve: (response: AxiosResponse<AnswerBody>) => void,
    private readonly reject: (error: Error) => void,
  ) {
    const timeout = config.timeout ?? 0;
    this.deadline = performance.now() + PATIENCE * timeout;
    this.timer = setTimeout(this.late, timeout);
    this.signal = config.signal;
    if (this.signal?.aborted) this.cancelled();
    else this.signal?.addEventListener?.('abort', this.cancelled);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // It was given up while it waited for a connection.
    if (this.over) controller.abort(this.reason ?? new Error('given up'));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    statusText = '',
  ): void {
    if (status < 200) return;
    this.body = new AnswerBody(this);
    const { config } = this;
    this.resolve({
      status,
      statusText,
      headers,
      data: this.body,
      config,
    });
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.body?.isStreamed === true || performance.now() < this.deadline) this.timer.refresh();
    this.body?.push(chunk);
  }

  onResponseEnd(): void {
    this.settle();
    this.body?.end();
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.fail(AxiosError.from(error, (error as NodeJS.ErrnoException).code, this.config));
  }

  pause(): void {
    this.patience = PATIENCE;
    this.controller?.pause();
  }

  resume(): void {
    // The mail service gets its whole time again from when more is wanted.
    if (this.patience > 0 && !this.over) this.timer.refresh();
    this.patience = 0;
    this.controller?.resume();
  }

  abort(reason: Error): void {
    this.controller?.abort(reason);
  }

  private readonly late = (): void => {
    this.patience -= 1;
    if (this.patience > 0) {
      this.timer.refresh();
      return;
    }
    this.giveUp(new AxiosError('nothing came in time', AxiosError.ECONNABORTED, this.config));
  };

  private readonly cancelled = (): void => {
    this.giveUp(new CanceledError('cancelled', this.config));
  };

  private giveUp(reason: Error): void {
    if (this.over) return;
    this.reason = reason;
    this.fail(reason);
    this.controller?.abort(reason);
  }

  private fail(error: Error): void {
    if (this.over) return;
    this.settle();
    if (this.body === null) this.reject(error);
    else this.body.fail(error);
  }

  private settle(): void {
    this.over = true;
    clearTimeout(this.timer);
    this.signal?.removeEventListener?.('abort', this.cancelled);
  }
}

function split({ baseURL = '', url = '' }: InternalAxiosRequestConfig): { origin: string; path: string } {
  const start = baseURL.indexOf('/', baseURL.indexOf('://') + 3);
  return start < 0
    ? { origin: baseURL, path: url }
    : { origin: baseURL.slice(0, start), path: baseURL.slice(start) + url };
}

function listOf(headers: InternalAxiosRequestConfig['headers']): string[] {
  const list: string[] = [];
  for (const name of Object.keys(headers)) list.push(name, headers[name] as string);
  return list;
}
