import { pipeline, Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { countForwardedBytes } from '../../memory/garbage.js';
import { freeBytes } from '../../memory/cache-size.js';
import type { BodyReply } from './body-reply.js';
import { JSON_HEADERS } from '../security-headers.js';

const FIXED_HEADERS: readonly string[] = JSON_HEADERS.flat();
/** Responses from this length on count for the garbage collection. */
const LARGE = 16 * 1024;
/** A connection without progress for this time is closed, because it keeps a file or a query open. */
export const STALLED_MS = 60_000;

/** Writes a JSON response with the security headers, in one call. */
export function writeJson(
  response: Response,
  status: number,
  json: string | Buffer,
  extra: { etag?: string; location?: string; headers?: Record<string, string> } = {},
): void {
  const headers = FIXED_HEADERS.slice();
  const length = typeof json === 'string' ? Buffer.byteLength(json) : json.length;
  headers.push('Content-Length', String(length));
  pushRequestId(headers, response);
  if (extra.etag) headers.push('ETag', extra.etag);
  if (extra.location) headers.push('Location', extra.location);
  if (extra.headers) headers.push(...Object.entries(extra.headers).flat());
  response.writeHead(status, headers);
  if (typeof json === 'string') response.end(json);
  else response.end(json, () => freeBytes(json));
  // Twice, because the rows of the database and the text that is made of them become garbage.
  if (length > LARGE) countForwardedBytes(2 * length);
}

/** Writes bytes or a stream with the security headers. */
export function writeBody(response: Response, { body, options }: BodyReply): void {
  writeHead(response, body, options);
  // pipeline() destroys both ends when one fails. There is no response left for an error.
  if (body instanceof Readable) pipeline(body, response, () => undefined);
  else response.end(body ?? undefined);
}

/**
 * Writes texts with the security headers, each before the next one is read: a client that reads slowly delays them. For responses that often
 * have one text only, where a stream takes longer than everything else.
 */
export async function writeTexts(
  response: Response,
  texts: AsyncIterable<string>,
  options: BodyReply['options'],
): Promise<void> {
  writeHead(response, null, options);
  // Without a listener, a write after the client has disconnected would end the process.
  response.on('error', () => undefined);
  // Without pending bytes, the connection waits for the source and not for the client.
  response.setTimeout(STALLED_MS, () => void (response.writableLength > 0 && response.destroy()));
  try {
    for await (const text of texts) {
      if (response.destroyed) return;
      if (!response.write(text)) await drained(response);
    }
    response.end();
  } catch {
    // There is no response left for an error: the connection breaks, so that the part of a response does not look complete.
    response.destroy();
  }
}

/** Resolves when the response accepts further bytes, or is closed. */
const drained = (response: Response): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });

function writeHead(response: Response, body: BodyReply['body'], options: BodyReply['options']): void {
  const { status = 200, contentType, headers: own = {} } = options;
  const replaced = new Set(['content-type', ...Object.keys(own).map((name) => name.toLowerCase())]);
  const headers = JSON_HEADERS.filter(([name]) => !replaced.has(name.toLowerCase())).flat();
  if (status !== 304) headers.push('Content-Type', contentType);
  headers.push(...Object.entries(own).flat());
  const length = body instanceof Uint8Array ? body.length : options.length;
  if (length !== undefined) headers.push('Content-Length', String(length));
  pushRequestId(headers, response);
  response.writeHead(status, headers);
}

function pushRequestId(headers: string[], response: Response): void {
  const requestId = (response.req as Request & { id?: string }).id;
  if (requestId) headers.push('X-Request-Id', requestId);
}
