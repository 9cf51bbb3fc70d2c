import type { ImageFormat } from '../../../lib/image-size/index.js';
import { BodyReply } from './body-reply.js';

/**
 * An image that browsers display. Only for raster formats that the server has detected itself, because they contain no scripts.
 * Clients may store it and revalidate it each time.
 * @param bytes null: the client has this version (304)
 * @param etag with its quotes
 * @param cacheControl default: stored by the client, and compared at each use
 */
export function imageReply(
  bytes: Buffer | null,
  format: ImageFormat,
  etag: string,
  cacheControl = 'private, no-cache',
): BodyReply {
  return new BodyReply(bytes, {
    status: bytes ? 200 : 304,
    contentType: `image/${format}`,
    headers: {
      'Cache-Control': cacheControl,
      ETag: etag,
      ...(bytes && { 'Content-Disposition': `inline; filename="image.${format}"` }),
    },
  });
}

/** The versions in `If-None-Match`, without quotes (RFC 9110, section 13.1.2: weak comparison). */
export function versionsNamed(ifNoneMatch: string | undefined): string[] {
  return [...(ifNoneMatch ?? '').matchAll(/(?:W\/)?"([\x21\x23-\x7e]{1,64})"/g)]
    .slice(0, 20)
    .map(([, tag = '']) => tag);
}
