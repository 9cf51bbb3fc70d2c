import { Errors } from '../errors.js';

/** Maximum number of large bodies in memory, in this process and of one user. */
const MAX_TOTAL = 8;
const MAX_PER_USER = 2;

/** Limits the memory for large JSON bodies. Each exists as bytes, as text and as parsed values. */
export class LargeBodies {
  private readonly perUser = new Map<string, number>();
  private total = 0;

  /**
   * @returns a function that releases the reservation
   * @throws ApiError 503 `overloaded`, before the body is read
   */
  enter(user: string): () => void {
    const count = this.perUser.get(user) ?? 0;
    if (count >= MAX_PER_USER || this.total >= MAX_TOTAL)
      throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
    this.perUser.set(user, count + 1);
    this.total += 1;
    return () => {
      this.total -= 1;
      const left = (this.perUser.get(user) ?? 1) - 1;
      if (left > 0) this.perUser.set(user, left);
      else this.perUser.delete(user);
    };
  }
}
