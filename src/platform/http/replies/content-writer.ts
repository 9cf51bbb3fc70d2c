import type { Request, Response } from 'express';
import { type ContentReply, type RequestedRange, requestedRange } from './content-reply.js';
import { namesTag } from '../entity-tags.js';
import { Errors } from '../errors.js';
import { STALLED_MS } from './reply-writer.js';
import { JSON_HEADERS } from '../security-headers.js';

/** If a browser shows the file despite its headers, scripts have no origin and cannot load anything. */
const POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'";
const REPLACED = new Set(['Content-Type', 'Content-Security-Policy']);
const FIXED: readonly string[] = [
  ...JSON_HEADERS.filter(([name]) => !REPLACED.has(name)).flat(),
  'Content-Security-Policy',
  POLICY,
  'Accept-Ranges',
  'bytes',
];

/**
 * Writes a stored file: 200, 206 for one range, 304 for a current copy of the client, 416 for a range outside the file.
 * Resolves when all bytes are sent or the client has disconnected; rejects when the store fails, possibly after the headers.
 * @throws ApiError 416 `range_not_satisfiable`, and the errors of opening the file
 */
export async function writeContent(response: Response, reply: ContentReply): Promise<void> {
  const request = response.req as Request & { id?: string };
  const { content, etag } = reply;
  const headers = [...FIXED, 'ETag', etag];
  if (request.id) headers.push('X-Request-Id', request.id);
  if (namesTag(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  const range = rangeOf(request, etag, content.size);
  const length = range ? range.end - range.start + 1 : content.size;
  headers.push('Content-Type', content.contentType, 'Content-Disposition', reply.disposition);
  headers.push('Content-Length', String(length));
  if (range) headers.push('Content-Range', `bytes ${range.start}-${range.end}/${content.size}`);
  if (request.method === 'HEAD') {
    response.writeHead(200, headers).end();
    return;
  }
  const bytes = await content.open(range);
  if (bytes.size !== length) {
    bytes.close();
    throw new Error(`a stored file has ${bytes.size} bytes instead of ${length}`);
  }
  response.writeHead(range ? 206 : 200, headers);
  // The client has disconnected, or the request is part of a batch, which ends the response of a file at its headers.
  if (response.destroyed) {
    bytes.close();
    return;
  }
  await send(bytes.pieces(), length, response);
}

/** RFC 9110, section 13.1.5: a range applies only when If-Range names the same file. */
function rangeOf({ method, headers }: Request, etag: string, size: number): RequestedRange | undefined {
  if (method !== 'GET') return undefined;
  const condition = headers['if-range'];
  if (condition !== undefined && String(condition).trim() !== etag) return undefined;
  const range = requestedRange(headers.range, size);
  if (range === null) {
    throw Errors.rangeNotSatisfiable.with({ headers: { 'Content-Range': `bytes */${size}` } });
  }
  return range;
}

async function send(pieces: AsyncIterable<Uint8Array>, length: number, response: Response): Promise<void> {
  let sent = 0;
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  response.setTimeout(STALLED_MS, () => response.destroy());
  for await (const piece of pieces) {
    sent += piece.length;
    // The source reuses the buffer, so the piece must reach the system before the next one is read.
    await Promise.race([closed, written(response, piece)]);
    if (response.destroyed) return;
  }
  if (sent < length) throw new Error(`a stored file ended after ${sent} of ${length} bytes`);
  response.end();
}

/** Resolves when the bytes are handed to the system, or when that is no longer possible. */
const written = (response: Response, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => response.write(bytes, () => resolve()));
