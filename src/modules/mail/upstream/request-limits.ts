import { Injectable } from '@nestjs/common';
import type { ClientDisconnect } from '../../../platform/http/abort-signal.js';
import { MailErrors } from '../mail.response.js';

/** Concurrent mail requests of one user, per process. Further ones wait. */
export const MAX_PER_USER = 16;
/** Waiting requests of one user. */
export const MAX_WAITING_PER_USER = 64;
/** Requests of all users, running and waiting. */
export const MAX_TOTAL = 256;

const RETRY_AFTER = { headers: { 'Retry-After': '1' } };

interface Waiter {
  user: string;
  start: () => void;
}

/** Limits concurrent requests per user and in total; queues requests above the user's limit. */
class RequestLimiter {
  private readonly running = new Map<string, number>();
  private readonly waiting = new Set<Waiter>();
  private total = 0;

  /**
   * Waits for a slot of the user.
   * @returns releases the slot; further calls have no effect
   * @throws ApiError 429 `too_many_mail_requests`, 503 `mail_service_busy`; the signal's reason
   */
  async enter(user: string, signal: ClientDisconnect): Promise<() => void> {
    if (signal.reason) throw signal.reason;
    if (this.total >= MAX_TOTAL) throw MailErrors.busy.with(RETRY_AFTER);
    const running = this.running.get(user) ?? 0;
    if (running < MAX_PER_USER) {
      this.total += 1;
      this.running.set(user, running + 1);
    } else await this.wait(user, signal);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.release(user);
    };
  }

  private async wait(user: string, signal: ClientDisconnect): Promise<void> {
    const own = [...this.waiting].filter((waiter) => waiter.user === user).length;
    if (own >= MAX_WAITING_PER_USER) throw MailErrors.tooManyRequests.with(RETRY_AFTER);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { user, start: resolve };
    const cancel = (): void => {
      if (!this.waiting.delete(waiter)) return;
      this.total -= 1;
      reject(signal.reason);
    };
    this.total += 1;
    this.waiting.add(waiter);
    signal.addEventListener('abort', cancel);
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Passes the slot on to the user's next request, or frees it. */
  private release(user: string): void {
    this.total -= 1;
    const next = [...this.waiting].find((waiter) => waiter.user === user);
    if (next) {
      this.waiting.delete(next);
      next.start();
      return;
    }
    const left = (this.running.get(user) ?? 1) - 1;
    if (left > 0) this.running.set(user, left);
    else this.running.delete(user);
  }
}

/** Bounds the sockets and the memory that requests hold. Downloads have slots of their own: slow ones do not block others. */
@Injectable()
export class RequestLimits {
  readonly requests = new RequestLimiter();
  readonly downloads = new RequestLimiter();
}
