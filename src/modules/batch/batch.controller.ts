import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Body, Controller, Injectable, Req } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiBody } from '@nestjs/swagger';
import type { AuthenticatedRequest } from '../../platform/context/request-context.js';
import { DisconnectSignal } from '../../platform/http/abort-signal.js';
import { BODY_ERRORS } from '../../platform/http/api-docs.js';
import { BodyLimit } from '../../platform/http/body/body-limits.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { type ErrorKind, Errors } from '../../platform/http/errors.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { ConcurrencyLimiter, QueueFullError } from '../../platform/workers/concurrency-limiter.js';
import {
  Batch,
  BatchEnvelope,
  BatchErrors,
  type BatchRequest,
  MAX_REQUESTS,
  parseBatch,
} from './batch.dto.js';
import { batchReply, type Outcome } from './batch.presenter.js';
import { waitForSlice } from '../../lib/turns/index.js';

/** An Express application, as a function. */
export type Dispatch = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface InProcessRequest {
  method: string;
  /** Path and query. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer | null;
  /** Address of the client, for rate limits and the audit log. */
  remoteAddress: string | undefined;
}

export interface InProcessResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Null for a response that is not JSON. Such a response is aborted at its headers. */
  body: Buffer | null;
}

/** Replaces a network connection and discards all written data. */
class NullSocket extends Duplex {
  constructor(readonly remoteAddress: string | undefined) {
    super();
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
}

/**
 * Passes a request through the application without a network connection: the same middleware, guards, pipes and handlers.
 * @param signal aborts the request like a client that disconnects
 * @returns the response; null for a response that ended before it was complete
 */
export function dispatchInProcess(
  dispatch: Dispatch,
  request: InProcessRequest,
  signal: AbortSignal,
): Promise<InProcessResponse | null> {
  const socket = new NullSocket(request.remoteAddress);
  const incoming = incomingOf(request, socket);
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket as unknown as Socket);
  const captured = capture(outgoing);
  return new Promise((resolve) => {
    const abort = (): void => void socket.destroy();
    signal.addEventListener('abort', abort);
    outgoing.once('finish', () => {
      // For network connections, the HTTP server of Node emits this event.
      outgoing.emit('close');
    });
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      const isComplete = outgoing.writableFinished || captured.isCutOff();
      resolve(isComplete ? { status: outgoing.statusCode, ...captured.result() } : null);
    });
    dispatch(incoming, outgoing);
  });
}

function incomingOf({ method, url, headers, body }: InProcessRequest, socket: Duplex): IncomingMessage {
  const incoming = new IncomingMessage(socket as Socket);
  // Set on the object, because Express replaces its prototype.
  incoming._read = () => undefined;
  incoming.method = method;
  incoming.url = url;
  incoming.httpVersionMajor = 1;
  incoming.httpVersionMinor = 1;
  incoming.httpVersion = '1.1';
  incoming.headers = body ? { ...headers, 'content-length': String(body.length) } : headers;
  incoming.rawHeaders = Object.entries(incoming.headers).flat() as string[];
  incoming.complete = true;
  if (body) incoming.push(body);
  incoming.push(null);
  return incoming;
}

/** Captures headers and body of a response. */
function capture(outgoing: ServerResponse) {
  const chunks: Buffer[] = [];
  let headers: Record<string, string> = {};
  let cutOff = false;
  const { writeHead, write, end } = outgoing as unknown as Record<string, (...args: unknown[]) => unknown>;
  const keep = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, encoding as BufferEncoding | undefined));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  const own = {
    writeHead(...args: unknown[]) {
      writeHead!.apply(outgoing, args);
      headers = headersOf(outgoing, args.at(-1));
      const type = headers['content-type'];
      cutOff = type !== undefined && !/^application\/json\b/.test(type);
      if (cutOff) outgoing.destroy();
      return outgoing;
    },
    write(chunk: unknown, ...rest: unknown[]) {
      keep(chunk, rest[0]);
      return write!.call(outgoing, chunk, ...rest);
    },
    end(chunk: unknown, ...rest: unknown[]) {
      keep(chunk, rest[0]);
      return end!.call(outgoing, chunk, ...rest);
    },
  };
  Object.assign(outgoing, own);
  return {
    isCutOff: () => cutOff,
    result: () => ({ headers, body: cutOff ? null : Buffer.concat(chunks) }),
  };
}

/** @param given the last argument of `writeHead`: a flat list, an object, or something else */
function headersOf(outgoing: ServerResponse, given: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  const put = (name: string, value: unknown): void => {
    headers[name.toLowerCase()] = String(value);
  };
  for (const [name, value] of Object.entries(outgoing.getHeaders())) put(name, value);
  if (Array.isArray(given)) for (let n = 0; n + 1 < given.length; n += 2) put(String(given[n]), given[n + 1]);
  else if (typeof given === 'object' && given !== null)
    for (const [name, value] of Object.entries(given)) put(name, value);
  return headers;
}

/**
 * Requests of an independent batch that run at the same time. Those that change a note are many, because the service stores up to 16 of one user
 * together. A response has a note of 2 MiB at most; others may have pages of 4 MB.
 */
const CONCURRENCY = { noteEdits: 16, others: 4 };
/**
 * Requests of all batches of this process that begin in one turn of the event loop, half of them of one user, and those that wait for their
 * turn. Requests that need no database, such as those of public pages, would otherwise run one after the other in one turn.
 */
const BEGINNING = { inTurn: 4, waiting: 4_096 };
const NOTE = /^\/apis\/v1\/notes\/[^/?]+(?:\?|$)/;
/** Bytes of all responses after which no further request starts. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** First path segments below `/apis/v1` that a batch may not request. */
const EXCLUDED = new Set(['batch', 'oidc', 'auth']);
const RESPONSE_HEADERS = ['etag', 'location', 'retry-after', 'x-request-id'];
/** Headers of the batch that are copied to each of its requests. */
const INHERITED_HEADERS = ['authorization', 'host', 'user-agent', 'x-forwarded-for', 'x-forwarded-proto'];

/** Runs the requests of a batch inside the process, each like a single request. */
@Injectable()
export class BatchService {
  private readonly beginning = new ConcurrencyLimiter(BEGINNING.inTurn, BEGINNING.waiting);

  constructor(private readonly host: HttpAdapterHost) {}

  /** @param signal fires when the client of the batch disconnects; no further request starts then */
  async run(
    outer: AuthenticatedRequest,
    batch: Batch,
    signal: AbortSignal,
  ): Promise<JsonReply<BatchEnvelope>> {
    const outcomes: Outcome[] = [];
    let bytes = 0;
    let isStopped = false;
    const work = async (places: IterableIterator<number>): Promise<void> => {
      for (const n of places) {
        if (signal.aborted) return;
        const request = batch.requests[n] as BatchRequest;
        const outcome = isStopped
          ? errorOutcome(BatchErrors.notRun)
          : bytes > MAX_RESPONSE_BYTES
            ? errorOutcome(BatchErrors.batchFull)
            : await this.runInTurn(outer, request, n, signal);
        outcomes[n] = outcome;
        bytes += outcome.body.length;
        isStopped ||= batch.mode === 'ordered' && batch.stop_on_error && outcome.status >= 400;
      }
    };
    await Promise.all(
      queuesOf(batch).flatMap(({ places, workers }) => {
        // The workers of a queue share its places.
        const left = places.values();
        return Array.from({ length: workers }, () => work(left));
      }),
    );
    signal.throwIfAborted();
    return batchReply(batch.requests, outcomes);
  }

  private async runInTurn(
    outer: AuthenticatedRequest,
    request: BatchRequest,
    n: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    // The place is free once the request has begun: a request that waits for another server delays no other batch.
    let outcome: Promise<Outcome> | undefined;
    try {
      await this.beginning.run(async () => {
        await waitForSlice();
        signal.throwIfAborted();
        outcome = this.runOne(outer, request, n, signal);
      }, signal);
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      return { ...errorOutcome(Errors.overloaded), headers: { 'retry-after': '1' } };
    }
    return outcome as unknown as Promise<Outcome>;
  }

  private async runOne(
    outer: AuthenticatedRequest,
    { method, path, headers = {}, body }: BatchRequest,
    n: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    if (!isBatchable(path)) return errorOutcome(BatchErrors.notBatchable);
    const own = lowerCased(headers);
    const response = await dispatchInProcess(
      this.host.httpAdapter.getInstance<Dispatch>(),
      {
        method,
        url: path,
        headers: { ...inheritedHeaders(outer), ...own, 'x-request-id': `${outer.id}.${n}` },
        body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
        remoteAddress: outer.socket.remoteAddress,
      },
      signal,
    );
    if (!response) return errorOutcome(Errors.internal);
    return outcomeOf(response, own['prefer'] !== undefined && method !== 'GET');
  }
}

/** The places of the requests, and how many of them run at the same time. */
function queuesOf({ mode, requests }: Batch): { places: number[]; workers: number }[] {
  const places = [...requests.keys()];
  if (mode === 'ordered') return [{ places, workers: 1 }];
  const isEdit = (n: number) => isNoteEdit(requests[n] as BatchRequest);
  return [
    { places: places.filter(isEdit), workers: CONCURRENCY.noteEdits },
    { places: places.filter((n) => !isEdit(n)), workers: CONCURRENCY.others },
  ];
}

const isNoteEdit = ({ method, path }: BatchRequest): boolean =>
  (method === 'PATCH' || method === 'PUT') && NOTE.test(path);

/** False for excluded paths and for requests that wait. Downloads are recognized by the content type of their response. */
function isBatchable(path: string): boolean {
  const { pathname, searchParams } = new URL(path, 'http://batch.invalid');
  return !EXCLUDED.has(pathname.split('/')[3] as string) && !searchParams.has('wait');
}

function inheritedHeaders({ headers }: AuthenticatedRequest): Record<string, string> {
  const inherited: Record<string, string> = { 'content-type': 'application/json' };
  for (const name of INHERITED_HEADERS) {
    const value = headers[name];
    if (value !== undefined) inherited[name] = String(value);
  }
  return inherited;
}

const lowerCased = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]));

/** @param isMinimal without the body of a success whose ETag names the revision */
function outcomeOf({ status, headers, body }: InProcessResponse, isMinimal: boolean): Outcome {
  const isOmitted = isMinimal && status < 300 && headers['etag'] !== undefined;
  if (body === null) return errorOutcome(BatchErrors.notBatchable);
  const kept = RESPONSE_HEADERS.filter((name) => headers[name] !== undefined);
  return {
    status,
    headers: Object.fromEntries(kept.map((name) => [name, headers[name] as string])),
    body: body.length > 0 && !isOmitted ? body : Buffer.from('null'),
  };
}

function errorOutcome({ status, code, message }: ErrorKind): Outcome {
  return { status, headers: {}, body: Buffer.from(JSON.stringify({ error: code, message })) };
}

/** Bytes of JSON of all requests together. */
const BATCH_BODY_BYTES = 8 * 1024 * 1024;
/** Each request has the limit of its operation, too. */
const BATCH_VALUES = 100_000;

const EXAMPLE = {
  mode: 'ordered',
  requests: [
    { id: 'create', method: 'POST', path: '/apis/v1/notes', body: { title: 'Written offline' } },
    { id: 'list', method: 'GET', path: '/apis/v1/notes?limit=1&include=summary' },
  ],
};

@Controller('batch')
export class BatchController {
  constructor(private readonly batches: BatchService) {}

  @Endpoint('POST', {
    tag: 'sync',
    id: 'runBatch',
    summary: 'Run several requests at once',
    description: `Our addition, for clients that work offline. Up to ${MAX_REQUESTS} requests of the caller, each with its own status, headers and body; each passes the same checks and limits as a single request. A batch is no transaction: a failed request undoes none of the others. Give writes an \`Idempotency-Key\`, so that the batch can be sent again after a lost response. Each response can have the errors of its own operation, 422 \`not_batchable\` (files, sign-in, \`wait\`, batches), 424 \`not_run\` (after a failure, with \`stop_on_error\`) and 503 \`batch_full\` (responses beyond 16 MiB).`,
    errors: [Errors.validationFailed, ...BODY_ERRORS],
    response: [BatchEnvelope, 'One response for each request, in their order.'],
    work: 'parts',
  })
  @ApiBody({ type: Batch, examples: { batch: { value: EXAMPLE } } })
  @BodyLimit(BATCH_BODY_BYTES, BATCH_VALUES)
  run(
    @Req() request: AuthenticatedRequest,
    @Body() body: unknown,
    @DisconnectSignal() disconnected: AbortSignal,
  ) {
    return this.batches.run(request, parseBatch(body), disconnected);
  }
}
