import { Injectable } from '@nestjs/common';
import { Errors } from '../http/errors.js';
import { BlobErrors } from './blobs.errors.js';

/** Bounds of the uploads of this process. */
@Injectable()
export class UploadLimits {
  /** At once, of everybody. */
  total = 32;
  /** At once, of one person. */
  perUser = 8;
  /** In each such time at least `windowBytes` of a body must arrive, milliseconds. */
  windowMs = 10_000;
  windowBytes = 4_096;
  /** For a whole body, milliseconds; below the server's own limit, which would break the connection without an answer. */
  totalMs = 110_000;
  /** For what a client still sends after it has been refused, milliseconds. */
  lingerMs = 5_000;
}

/** Lets a bounded number of uploads in; nobody waits, since a waiting client's connection costs as much as a served one's. */
@Injectable()
export class UploadGate {
  private readonly byUser = new Map<string, number>();
  private inside = 0;

  constructor(private readonly limits: UploadLimits) {}

  /**
   * @returns to be called when the upload has ended
   * @throws ApiError 429 `too_many_uploads` for this person's own, 503 `overloaded` for everybody's
   */
  enter(userId: string): () => void {
    const own = this.byUser.get(userId) ?? 0;
    if (own >= this.limits.perUser) {
      throw BlobErrors.tooManyUploads.with({ headers: { 'Retry-After': '2' } });
    }
    if (this.inside >= this.limits.total) {
      throw Errors.overloaded.with({ headers: { 'Retry-After': '2' } });
    }
    this.byUser.set(userId, own + 1);
    this.inside += 1;
    return () => this.leave(userId);
  }

  private leave(userId: string): void {
    this.inside -= 1;
    const own = (this.byUser.get(userId) ?? 1) - 1;
    if (own === 0) this.byUser.delete(userId);
    else this.byUser.set(userId, own);
  }
}
