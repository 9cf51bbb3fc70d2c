import { createHash } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { imageSize } from '../../../lib/image-size/index.js';
import { Db } from '../../../platform/database/db.js';
import { ApiError } from '../../../platform/http/errors.js';
import { Images } from '../../../platform/images/images.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { TenantErrors } from '../tenants.errors.js';
import { type EncodedLogo, type LogoRow, TenantLogosRepository } from './tenant-profile.repository.js';

export const MAX_LOGO_BYTES = 256 * 1024;
/** Pixels of the longer side. */
export const MAX_LOGO_SIDE = 2048;

const MAX_SCALED = 200;
const BATCH = 20;
const INTERVAL_SECONDS = 3_600;

/** Encodes logos again, so that none of the bytes of an upload are served, and scales them. */
@Injectable()
export class TenantLogos implements OnModuleInit {
  private readonly logger = new Logger(TenantLogos.name);
  /** The key consists of version and size. */
  private readonly scaled = new LRUCache<string, Promise<Buffer>>({ max: MAX_SCALED });

  constructor(
    private readonly images: Images,
    private readonly logos: TenantLogosRepository,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    const run = () => this.encodeStored();
    this.jobs.register({
      name: 'encode-tenant-logos',
      everySeconds: INTERVAL_SECONDS,
      ofDirectory: true,
      run,
    });
  }

  /** @throws ApiError 422 `invalid_image`, 503 `image_encoder_unavailable` */
  async encode(bytes: Buffer): Promise<EncodedLogo> {
    const size = imageSize(bytes);
    if (!size || size.format === 'gif' || Math.max(size.width, size.height) > MAX_LOGO_SIDE)
      throw TenantErrors.invalidImage.with();
    const { format } = size;
    const image = await this.images.encode(bytes, format, { side: MAX_LOGO_SIDE, bytes: MAX_LOGO_BYTES });
    if (image.bytes.length > MAX_LOGO_BYTES) throw TenantErrors.invalidImage.with();
    const version = createHash('sha256').update(image.bytes).digest('hex').slice(0, 32);
    return { format, bytes: image.bytes, version, width: image.width, height: image.height };
  }

  /** @param side maximum of width and height, pixels; a smaller logo keeps its size */
  async scale({ format, bytes, version }: LogoRow & { bytes: Buffer }, side: number): Promise<Buffer> {
    const key = `${version} ${side}`;
    const cached = this.scaled.get(key);
    if (cached) return cached;
    const scaled = this.images
      .encode(bytes, format, { side, bytes: MAX_LOGO_BYTES })
      .then((image) => image.bytes);
    scaled.catch(() => this.scaled.delete(key));
    this.scaled.set(key, scaled);
    return scaled;
  }

  /** Encodes logos that an earlier version stored as they were uploaded; removes files that are no images. */
  private async encodeStored(): Promise<void> {
    for (const { tenant_id: tenantId, version, bytes } of await this.logos.listUnencoded(BATCH)) {
      const logo = await this.encode(bytes).catch((error: unknown) => {
        if (error instanceof ApiError && error.kind.status === 422) return null;
        throw error;
      });
      if (logo === null) this.logger.warn({ tenant: tenantId }, 'a logo that is no image was removed');
      await this.db.single((tx) => this.logos.replace(tx, tenantId, version, logo));
    }
  }
}
