import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { AuthenticatedRequest } from '../../platform/context/request-context.js';
import type { ErrorKind } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import type { Batch, BatchRequest } from './batch.dto.js';
import { batchReply, type Outcome } from './batch.presenter.js';
import { BatchErrors } from './batch.errors.js';
import { type Dispatch, dispatchInProcess, type InProcessResponse } from './in-process-request.js';
import type { BatchEnvelope } from './batch.response.js';

/** Requests of an independent batch that run at the same time. */
const CONCURRENCY = 4;
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
  constructor(private readonly host: HttpAdapterHost) {}

  /** @param signal fires when the client of the batch disconnects; no further request starts then */
  async run(
    outer: AuthenticatedRequest,
    batch: Batch,
    signal: AbortSignal,
  ): Promise<JsonReply<BatchEnvelope>> {
    const outcomes: Outcome[] = [];
    let bytes = 0;
    let next = 0;
    let isStopped = false;
    const work = async (): Promise<void> => {
      while (next < batch.requests.length && !signal.aborted) {
        const n = next++;
        const request = batch.requests[n] as BatchRequest;
        const outcome = isStopped
          ? errorOutcome(BatchErrors.notRun)
          : bytes > MAX_RESPONSE_BYTES
            ? errorOutcome(BatchErrors.batchFull)
            : await this.runOne(outer, request, n, signal);
        outcomes[n] = outcome;
        bytes += outcome.body.length;
        isStopped ||= batch.mode === 'ordered' && batch.stop_on_error && outcome.status >= 400;
      }
    };
    const workers = batch.mode === 'ordered' ? 1 : Math.min(CONCURRENCY, batch.requests.length);
    await Promise.all(Array.from({ length: workers }, work));
    signal.throwIfAborted();
    return batchReply(batch.requests, outcomes);
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
