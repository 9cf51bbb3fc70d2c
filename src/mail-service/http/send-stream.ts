import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { countForwardedBytes } from '../../platform/memory/garbage.js';
import { isMediaType } from '../mime/clean-text.js';

/**
 * Streams bytes at the client's pace. An error of the source closes the connection; a disconnected client destroys the
 * source.
 * @param type declared media type
 * @param length bytes, when known
 */
export async function sendStream(
  response: Response,
  stream: Readable,
  type: string,
  length?: number,
): Promise<void> {
  response.writeHead(200, {
    'Content-Type': isMediaType(type) ? type : 'application/octet-stream',
    ...(length !== undefined && { 'Content-Length': length }),
    // Marks the response as a file: a JSON file could look like an error.
    'Content-Disposition': 'attachment',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
  await pipeline(stream, counted, response);
}

async function* counted(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    countForwardedBytes(chunk.length);
    yield chunk;
  }
}
