import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Db } from '../../platform/database/db.js';
import { isStorable } from '../../platform/http/storable-text.js';
import { GuessLocks } from '../../platform/rate-limits/guess-locks.js';
import { networkOf } from '../../platform/rate-limits/rate-limit.js';
import { RateLimits } from '../../platform/rate-limits/rate-limits.js';
import { CredentialsApi, emailKey } from '../identity/index.js';
import { SIGN_IN } from './guessables.js';

export interface SignInAttempt {
  email: string;
  password: string;
  /** Address of the client. */
  ip: string | null;
}

export type SignInOutcome =
  | {
      outcome: 'ok';
      accountId: string;
      email: string;
      displayName: string;
      /** `SecondFactors.verify` has to say yes before anything is given out. */
      secondFactor: boolean;
    }
  /** Wrong password, no such account, or a closed one: which is not told, and takes the same work. */
  | { outcome: 'refused' }
  /** Not looked at. Seconds to wait. */
  | { outcome: 'limited'; wait: number };

/** Longer ones are nobody's. */
const MAX_EMAIL = 320;
export const MAX_PASSWORD = 1_000;

/** Verifies an e-mail address and a password for a sign-in page. */
@Injectable()
export class PasswordSignIn {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly locks: GuessLocks,
    private readonly limits: RateLimits,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 503 `overloaded` when too many passwords are being compared */
  async verify({ email, password, ip }: SignInAttempt): Promise<SignInOutcome> {
    const limit = { scope: 'sign-in', requests: this.config.SIGN_IN_PER_MINUTE, perSeconds: 60 };
    const wait = await this.limits.take({ limit, subject: networkOf(ip) });
    if (wait > 0) return { outcome: 'limited', wait };
    if (email.length > MAX_EMAIL || password.length > MAX_PASSWORD || !isStorable(email))
      return { outcome: 'refused' };
    const key = emailKey(email);
    const guess = await this.locks.begin(SIGN_IN, key);
    if (!guess.allowed) return { outcome: 'limited', wait: guess.wait };
    const account = await this.credentials.byEmail(email);
    const matches = await this.credentials.passwordMatches(account, password);
    if (!matches || account?.status !== 'active') return { outcome: 'refused' };
    await this.db.single((tx) => this.locks.forget(tx, SIGN_IN, key));
    return {
      outcome: 'ok',
      accountId: account.id,
      email: account.email,
      displayName: account.display_name,
      secondFactor: account.second_factor_since !== null,
    };
  }
}
