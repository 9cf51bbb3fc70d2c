import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { countForwardedBytes } from '../../memory/garbage.js';
import { Errors } from '../errors.js';

/** Minimum size of a long body, bytes. */
const LONG = 1024 * 1024;
const UTF_8 = /;\s*charset\s*=\s*"?utf-?8"?\s*(?:;|$)/i;

/** @returns the Content-Length of a long, uncompressed UTF-8 body; null for any other body */
export function lengthOfLong({ headers }: Request): number | null {
  const length = Number(headers['content-length'] ?? 0);
  const type = headers['content-type'] ?? '';
  const plain = (headers['content-encoding'] ?? 'identity') === 'identity';
  return length > LONG && plain && (!/charset/i.test(type) || UTF_8.test(type)) ? length : null;
}

/**
 * Reads a long body into one buffer. body-parser would hold it twice: as chunks and concatenated.
 * @param length the Content-Length, which Node's parser enforces
 * @throws ApiError 400 `bad_request` when the request ends early
 */
export async function readLong(request: Request, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(length);
  let at = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      at += chunk.copy(body, at);
      countForwardedBytes(chunk.length);
    }
  } catch {
    throw Errors.badRequest.with();
  }
  return body;
}

/** @throws ApiError 400 `invalid_json` */
export function parsedJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw Errors.invalidJson.with();
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  try {
    return JSON.parse(body.toString('utf8', start));
  } catch {
    throw Errors.invalidJson.with();
  }
}
