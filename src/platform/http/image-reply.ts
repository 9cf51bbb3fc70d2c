import type { ImageFormat } from '../../lib/image-size/index.js';

/**
 * A success answer that is a picture to be shown in place. Only raster pictures of a format we have recognised ourselves:
 * they cannot carry anything that runs.
 */
export class ImageReply {
  readonly contentType: string;

  /**
   * @param bytes null: the client has this version already (304)
   * @param etag with its quotes; the client keeps the picture and asks each time whether it is still good
   */
  constructor(
    readonly bytes: Buffer | null,
    readonly extension: ImageFormat,
    readonly etag: string,
  ) {
    this.contentType = `image/${extension}`;
  }
}

/** The versions `If-None-Match` names, without quotes (RFC 9110, section 13.1.2: weak tags compare like strong ones). */
export function versionsNamed(ifNoneMatch: string | undefined): string[] {
  return [...(ifNoneMatch ?? '').matchAll(/(?:W\/)?"([\x21\x23-\x7e]{1,64})"/g)]
    .slice(0, 20)
    .map(([, tag = '']) => tag);
}
