import { Injectable } from '@nestjs/common';
import { MailErrors } from '../mail.errors.js';

/** Concurrent mail requests of one user, and of all users, per process. */
export const MAX_PER_USER = 16;
export const MAX_TOTAL = 256;

const RETRY_AFTER = { headers: { 'Retry-After': '1' } };

/** Bounds the sockets and the memory that requests hold while a slow mail service works on them. */
@Injectable()
export class RequestLimits {
  private readonly perUser = new Map<string, number>();
  private total = 0;

  /**
   * @returns ends the request; further calls have no effect
   * @throws ApiError 429 `too_many_mail_requests`, 503 `mail_service_busy`
   */
  enter(user: string): () => void {
    const own = this.perUser.get(user) ?? 0;
    if (own >= MAX_PER_USER) throw MailErrors.tooManyRequests.with(RETRY_AFTER);
    if (this.total >= MAX_TOTAL) throw MailErrors.busy.with(RETRY_AFTER);
    this.perUser.set(user, own + 1);
    this.total += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.total -= 1;
      const left = (this.perUser.get(user) ?? 1) - 1;
      if (left > 0) this.perUser.set(user, left);
      else this.perUser.delete(user);
    };
  }
}
