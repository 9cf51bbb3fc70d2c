import { Slots } from '../../workers/slots.js';
import { Errors } from '../errors.js';

/** Maximum number of large bodies in memory, of one user and in this process. */
const MAX = { owner: 2, total: 8 };

/** Limits the memory for large JSON bodies. Each exists as bytes, as text and as parsed values. */
export class LargeBodies {
  private readonly slots = new Slots();

  /**
   * @returns a function that releases the reservation
   * @throws ApiError 503 `overloaded`, before the body is read
   */
  enter(user: string): () => void {
    const release = this.slots.take(user, MAX);
    if (typeof release === 'string') throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
    return release;
  }
}
