import { Injectable } from '@nestjs/common';

const MB = 1024 * 1024;

/**
 * Bounds what all requests and SMTP clients together may have under way, in memory or in files: many large messages at once
 * are turned away for the moment instead of filling either.
 */
@Injectable()
export class ByteBudget {
  private left = 512 * MB;

  /** @returns false when there is not so much left; then nothing was taken */
  take(bytes: number): boolean {
    if (bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.left += bytes;
  }
}

/** What one request or client has taken. */
export class Share {
  private taken = 0;

  constructor(private readonly budget: ByteBudget) {}

  /** @returns false when there is not so much left */
  take(bytes: number): boolean {
    if (!this.budget.take(bytes)) return false;
    this.taken += bytes;
    return true;
  }

  /** Gives everything back; may be called more than once. */
  release(): void {
    this.budget.give(this.taken);
    this.taken = 0;
  }
}
