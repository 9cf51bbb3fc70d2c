import { Injectable } from '@nestjs/common';
import { ApiError } from '../../../platform/http/errors.js';
import { ImageErrors } from '../../../platform/images/images.js';
import { ContactPhotos } from '../contact-photos.js';
import type { ImportedCard } from './import-cards.js';

/** Stores the photos of imported cards. */
@Injectable()
export class ImportPhotos {
  constructor(private readonly photos: ContactPhotos) {}

  /**
   * Call it outside transactions. A photo that is stored already is not encoded again; a damaged one is left out, so that its
   * card is imported.
   * @returns ids of photos by the hash of the image
   * @throws ApiError 503
   */
  async store(tenantId: string, cards: readonly ImportedCard[]): Promise<Map<string, string>> {
    const images = new Map(cards.flatMap(({ photo }) => (photo ? [[photo.hash, photo.image] as const] : [])));
    const ids = await this.photos.findKnown(tenantId, [...images.keys()]);
    for (const [hash, image] of images) {
      if (ids.has(hash)) continue;
      const id = await this.encoded(tenantId, image);
      if (id !== null) ids.set(hash, id);
    }
    return ids;
  }

  private async encoded(tenantId: string, image: Uint8Array): Promise<string | null> {
    try {
      return await this.photos.encode(tenantId, image);
    } catch (error) {
      if (error instanceof ApiError && error.kind === ImageErrors.invalid) return null;
      throw error;
    }
  }
}
