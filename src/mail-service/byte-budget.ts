import { Injectable } from '@nestjs/common';

const MB = 1024 * 1024;

/** Limits the bytes that all requests and SMTP sessions together hold in memory or in temporary files. */
@Injectable()
export class ByteBudget {
  private left = 512 * MB;

  /** @returns false, without a reservation, when fewer bytes are left */
  take(bytes: number): boolean {
    if (bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.left += bytes;
  }
}

/** The bytes that one request or SMTP session holds. */
export class ByteReservation {
  private taken = 0;

  constructor(private readonly budget: ByteBudget) {}

  /** @returns false when fewer bytes are left */
  take(bytes: number): boolean {
    if (!this.budget.take(bytes)) return false;
    this.taken += bytes;
    return true;
  }

  /** Returns all bytes. Idempotent. */
  release(): void {
    this.budget.give(this.taken);
    this.taken = 0;
  }
}
