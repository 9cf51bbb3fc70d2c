import { availableParallelism } from 'node:os';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Algorithm, hash, verify } from '@node-rs/argon2';
import { Errors } from '../../platform/http/errors.js';
import {
  ClosedError,
  ConcurrencyLimiter,
  QueueFullError,
} from '../../platform/workers/concurrency-limiter.js';

/**
 * One of the settings for argon2id that OWASP's password storage cheat sheet lists as equal in defence (from 46 MiB and
 * one pass to 7 MiB and five): the one that takes the least time here, since its memory fits a processor's cache.
 */
const OPTIONS = { algorithm: Algorithm.Argon2id, memoryCost: 7_168, timeCost: 5, parallelism: 1 };

const PREFIX = `$argon2id$v=19$m=${OPTIONS.memoryCost},t=${OPTIONS.timeCost},p=${OPTIONS.parallelism}$`;

/** Matches no password that anybody will find, and takes as long to compare as one that does. */
const NOBODYS = `${PREFIX}${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Comparisons of a process that may wait; at 30 ms each the last one waits a few seconds. */
const QUEUE = 128;

/** @returns a PHC string, salt and parameters included */
export async function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), OPTIONS);
}

export async function verifyPassword(phc: string, password: string): Promise<boolean> {
  return verify(phc, password.normalize('NFKC'));
}

/** Hashes and compares passwords, no more at once than there are processors. */
@Injectable()
export class Passwords implements OnModuleDestroy {
  private readonly lanes = new ConcurrencyLimiter(availableParallelism(), QUEUE);

  onModuleDestroy(): void {
    this.lanes.close();
  }

  /** @throws ApiError 503 `overloaded` */
  async hash(password: string): Promise<string> {
    return this.run(() => hashPassword(password));
  }

  /**
   * Takes the same work whether there is a password or not.
   * @param phc null: nobody's, or an account without a password
   * @throws ApiError 503 `overloaded`
   */
  async verify(phc: string | null, password: string): Promise<boolean> {
    const matches = await this.run(() => verifyPassword(phc ?? NOBODYS, password));
    return matches && phc !== null;
  }

  /** Whether the hash was made with other settings than today's. */
  isOutdated(phc: string): boolean {
    return !phc.startsWith(PREFIX);
  }

  private async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.lanes.run(work);
    } catch (error) {
      if (error instanceof QueueFullError || error instanceof ClosedError)
        throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
      throw error;
    }
  }
}
