import type { Request } from 'express';
import { countForwardedBytes } from '../../memory/garbage.js';
import { Errors } from '../errors.js';

const UTF_8 = /;\s*charset\s*=\s*"?utf-?8"?\s*(?:;|$)/i;

/** @returns the Content-Length of an uncompressed UTF-8 body that is not empty; null for any other body */
export function lengthOfPlain({ headers }: Request): number | null {
  const length = headers['content-length'];
  if (length === undefined || headers['transfer-encoding'] !== undefined) return null;
  const type = headers['content-type'] ?? '';
  const plain = (headers['content-encoding'] ?? 'identity') === 'identity';
  return plain && (!/charset/i.test(type) || UTF_8.test(type)) ? Number(length) || null : null;
}

/**
 * Reads a body of known length. body-parser takes several times the processor time of a short one, and holds a long one twice.
 * @param length the Content-Length, which Node's parser enforces
 * @throws ApiError 400 `bad_request` when the request ends early
 */
export function readPlain(request: Request, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer | undefined;
    let at = 0;
    request.on('data', (chunk: Buffer) => {
      if (chunk.length === length) body = chunk;
      else {
        body ??= Buffer.allocUnsafeSlow(length);
        chunk.copy(body, at);
        countForwardedBytes(chunk.length);
      }
      at += chunk.length;
    });
    const endedEarly = () => reject(Errors.badRequest.with());
    request.once('end', () => (body && at === length ? resolve(body) : endedEarly()));
    request.once('error', endedEarly);
    request.once('close', endedEarly);
  });
}

/** @throws ApiError 400 `invalid_json` */
export function parsedPlain(body: Buffer): unknown {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  try {
    return JSON.parse(body.toString('utf8', start));
  } catch {
    throw Errors.invalidJson.with();
  }
}
