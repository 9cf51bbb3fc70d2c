import { availableParallelism } from 'node:os';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Errors } from '../../platform/http/errors.js';
import { ARGON2ID, hashPassword, verifyPassword } from '../../platform/secrets/password-hash.js';
import {
  ClosedError,
  ConcurrencyLimiter,
  QueueFullError,
} from '../../platform/workers/concurrency-limiter.js';

const PREFIX = `$argon2id$v=19$m=${ARGON2ID.memoryCost},t=${ARGON2ID.timeCost},p=${ARGON2ID.parallelism}$`;

/** Matches no password, and takes as long to compare as a stored hash. */
const DUMMY_HASH = `${PREFIX}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Queued comparisons of a process; at 30 ms each the last one waits a few seconds. */
const MAX_QUEUED = 128;

/** Hashes and compares passwords, on all processors but one at a time: the requests of others have that one. */
@Injectable()
export class Passwords implements OnModuleDestroy {
  private readonly limiter = new ConcurrencyLimiter(Math.max(1, availableParallelism() - 1), MAX_QUEUED);

  onModuleDestroy(): void {
    this.limiter.close();
  }

  /** @throws ApiError 503 `overloaded` */
  async hash(password: string): Promise<string> {
    return this.run(() => hashPassword(password));
  }

  /**
   * Takes the same time whether a password exists or not.
   * @param phc null: unknown account, or an account without a password
   * @throws ApiError 503 `overloaded`
   */
  async verify(phc: string | null, password: string): Promise<boolean> {
    const matches = await this.run(() => verifyPassword(phc ?? DUMMY_HASH, password));
    return matches && phc !== null;
  }

  /** Whether the hash has other parameters than the current ones. */
  isOutdated(phc: string): boolean {
    return !phc.startsWith(PREFIX);
  }

  private async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.limiter.run(work);
    } catch (error) {
      if (error instanceof QueueFullError || error instanceof ClosedError)
        throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
      throw error;
    }
  }
}
