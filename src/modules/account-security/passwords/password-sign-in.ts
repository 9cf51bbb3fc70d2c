import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { GuessLocks } from '../../../platform/rate-limits/guess-locks.js';
import { networkOf } from '../../../platform/rate-limits/rate-limit.js';
import { RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { CredentialsApi, emailKey } from '../../identity/index.js';
import { MAX_PASSWORD, SIGN_IN } from '../guess-limits.js';

interface SignInAttempt {
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
      /** When true, `SecondFactors.verify` must succeed before a session is opened. */
      secondFactor: boolean;
    }
  /** Incorrect password, unknown or closed account: indistinguishable, also by time. */
  | { outcome: 'rejected' }
  /** Not verified. `wait` in seconds. */
  | { outcome: 'limited'; wait: number };

/** Longer addresses match no account. */
const MAX_EMAIL = 320;

/** Verifies e-mail address and password of a sign-in. */
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
      return { outcome: 'rejected' };
    const key = emailKey(email);
    const guess = await this.locks.begin(SIGN_IN, key);
    if (!guess.allowed) return { outcome: 'limited', wait: guess.wait };
    const account = await this.credentials.byEmail(email);
    const matches = await this.credentials.passwordMatches(account, password);
    if (!matches || account?.status !== 'active') return { outcome: 'rejected' };
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
