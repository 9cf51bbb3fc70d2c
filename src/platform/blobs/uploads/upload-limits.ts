import { Injectable } from '@nestjs/common';
import { Errors } from '../../http/errors.js';
import { BlobErrors } from '../blobs.errors.js';

/** Limits of the uploads of this process. */
@Injectable()
export class UploadLimits {
  /** Concurrent uploads of all users. */
  total = 32;
  /** Concurrent uploads of one user. */
  perUser = 8;
  /** Period in which at least `windowBytes` of a body must arrive, milliseconds. */
  windowMs = 10_000;
  windowBytes = 4_096;
  /** Timeout of a whole body, milliseconds. Below the timeout of the server, which closes the connection without a response. */
  totalMs = 110_000;
  /** Time in which the rest of a rejected body is read, milliseconds. */
  lingerMs = 5_000;
}

/** Limits concurrent uploads. There is no queue, because a waiting connection costs as much as a served one. */
@Injectable()
export class UploadGate {
  private readonly byUser = new Map<string, number>();
  private inside = 0;

  constructor(private readonly limits: UploadLimits) {}

  /**
   * @returns a function to call at the end of the upload
   * @throws ApiError 429 `too_many_uploads` at the limit of the user, 503 `overloaded` at the limit of the process
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
