import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { default as Library, Sharp } from 'sharp';
import { imageSize } from '../../lib/image-size/index.js';
import { lazy } from '../../lib/lazy/index.js';
import { defineError } from '../http/errors.js';
import { ClosedError, ConcurrencyLimiter, QueueFullError } from '../workers/concurrency-limiter.js';

/** The errors of image processing. */
export const ImageErrors = {
  invalid: defineError(
    422,
    'invalid_image',
    'The content is no PNG, JPEG, GIF or WebP image, is damaged or has too many pixels.',
  ),
  unavailable: defineError(503, 'image_encoder_unavailable', 'Images cannot be processed now; retry later.'),
} as const;

export interface EncodedImage {
  /** They contain no metadata. */
  bytes: Buffer;
  /** Pixels. */
  width: number;
  height: number;
}

/** Maximum number of images that are decoded concurrently. Each takes up to four bytes per pixel. */
const CONCURRENT = 2;
const QUEUE = 64;
const MAX_PIXELS = 50_000_000;
const TIMEOUT_SECONDS = 10;
const QUALITIES = [82, 60, 40];

export interface ImageLimits {
  /** Maximum of width and height, pixels; smaller images keep their size. */
  side: number;
  /** Approximate maximum of the result: larger results are compressed more. */
  bytes: number;
}

/** Selects the output format of an attempt. */
type Write = (image: Sharp, attempt: number) => Sharp;

/**
 * Encodes raster images of clients again. The result contains no bytes of the input, so no scripts and no metadata such as the
 * place of a photo. The decoder (libvips) runs in its own threads.
 */
@Injectable()
export class Images implements OnModuleDestroy {
  private readonly logger = new Logger(Images.name);
  private readonly limiter = new ConcurrencyLimiter(CONCURRENT, QUEUE);

  /**
   * The first frame of a PNG, JPEG, GIF or WebP as a JPEG, upright, on white where it is transparent.
   * @throws ApiError 422 `invalid_image`, 503 `image_encoder_unavailable`
   */
  async jpeg(input: Uint8Array, limits: ImageLimits): Promise<EncodedImage> {
    return this.run(input, limits, (image, n) =>
      image.flatten({ background: '#ffffff' }).jpeg({ quality: QUALITIES[n]! }),
    );
  }

  /**
   * The first frame of a PNG, JPEG or WebP in the same format, upright. Transparency stays.
   * @throws ApiError 422 `invalid_image`, 503 `image_encoder_unavailable`
   */
  async encode(
    input: Uint8Array,
    format: 'png' | 'jpeg' | 'webp',
    limits: ImageLimits,
  ): Promise<EncodedImage> {
    return this.run(input, limits, (image, n) => {
      if (format === 'png') return image.png({ compressionLevel: 9, palette: n > 0 });
      const quality = QUALITIES[n]!;
      return format === 'jpeg' ? image.jpeg({ quality }) : image.webp({ quality });
    });
  }

  onModuleDestroy(): void {
    this.limiter.close();
  }

  private async run(input: Uint8Array, limits: ImageLimits, write: Write): Promise<EncodedImage> {
    const size = imageSize(Buffer.from(input.buffer, input.byteOffset, input.byteLength));
    if (!size || size.width * size.height > MAX_PIXELS) throw ImageErrors.invalid.with();
    try {
      return await this.limiter.run(() => this.smallest(input, limits, write));
    } catch (error) {
      if (!(error instanceof QueueFullError || error instanceof ClosedError)) throw error;
      throw ImageErrors.unavailable.with({ headers: { 'Retry-After': '5' } });
    }
  }

  /** The first attempt that fits `limits.bytes`, or the last one. */
  private async smallest(
    input: Uint8Array,
    { side, bytes }: ImageLimits,
    write: Write,
  ): Promise<EncodedImage> {
    const open = this.loaded();
    for (const n of QUALITIES.keys()) {
      const image = open(input, { limitInputPixels: MAX_PIXELS, failOn: 'error', pages: 1 })
        .autoOrient()
        .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true });
      const { data, info } = await encoded(write(image, n).timeout({ seconds: TIMEOUT_SECONDS }));
      if (data.length <= bytes || n === QUALITIES.length - 1)
        return { bytes: data, width: info.width, height: info.height };
    }
    throw ImageErrors.invalid.with();
  }

  /** The library has no binary for some platforms. */
  private loaded(): typeof Library {
    try {
      return library();
    } catch (error) {
      this.logger.error({ err: error }, 'the image library cannot be loaded');
      throw ImageErrors.unavailable.with();
    }
  }
}

const library = lazy((require) => {
  const sharp = require('sharp') as typeof Library;
  sharp.cache(false);
  sharp.concurrency(1);
  // Decoders of formats that no client needs are disabled, to reduce the attack surface.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'],
  });
  return sharp;
});

async function encoded(image: Sharp) {
  try {
    return await image.toBuffer({ resolveWithObject: true });
  } catch {
    throw ImageErrors.invalid.with();
  }
}
