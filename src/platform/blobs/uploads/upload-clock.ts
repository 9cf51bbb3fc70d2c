import type { Request } from 'express';
import { BlobErrors } from '../blobs.errors.js';
import type { UploadLimits } from './upload-limits.js';

/** Detects a client that sends its body too slowly. */
export class UploadClock {
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly expiry = Promise.withResolvers<never>();
  private seen: number;

  constructor(
    private readonly request: Request,
    private readonly limits: UploadLimits,
  ) {
    this.seen = request.socket.bytesRead;
    const expire = (): void =>
      this.expiry.reject(BlobErrors.uploadTimeout.with({ headers: { Connection: 'close' } }));
    this.timers.push(
      setTimeout(expire, limits.totalMs),
      setInterval(() => this.isStalled() && expire(), limits.windowMs),
    );
    this.expiry.promise.catch(() => undefined);
  }

  /** Never settles, or rejects with ApiError 408 `upload_timeout`. */
  get expired(): Promise<never> {
    return this.expiry.promise;
  }

  stop(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }

  /** When received bytes are unread, the store is slow and not the client. */
  private isStalled(): boolean {
    const before = this.seen;
    this.seen = this.request.socket.bytesRead;
    return (
      !this.request.complete &&
      this.request.readableLength === 0 &&
      this.seen - before < this.limits.windowBytes
    );
  }
}
