import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import { type GuessLimit, GuessLocks } from '../../../platform/rate-limits/guess-locks.js';
import { networkOf } from '../../../platform/current-work/current-work.js';
import { RateLimits } from '../../../platform/rate-limits/rate-limits.js';
import { CredentialsApi, type CredentialsRow, emailKey } from '../../identity/index.js';
import { MAX_PASSWORD, SIGN_IN, SIGN_IN_ANYWHERE } from '../model/guess-limits.js';
import { type FailedSignIn, SignInLog } from '../security-log.js';

interface SignInAttempt {
  email: string;
  password: string;
  /** Address of the client. */
  ip: string | null;
  /** Id of a browser in which the account signed in before; null: unknown. */
  knownBrowser?: string | null;
}

export type SignInOutcome =
  | {
      outcome: 'ok';
      accountId: string;
      email: string;
      displayName: string;
      /** When true, `SecondFactors.verify` must succeed before a session is opened. */
      secondFactor: boolean;
      /** When the verified password was set; null: at the creation of the account. */
      passwordChangedAt: Date | null;
    }
  /** Incorrect password, unknown or closed account: indistinguishable, also by time. */
  | { outcome: 'rejected' }
  /** The password is not verified. `wait` is in seconds. */
  | { outcome: 'limited'; wait: number };

/** Longer addresses match no account. */
const MAX_EMAIL = 320;

/** A counter of failures. */
interface GuessCounter {
  limit: GuessLimit;
  subject: string;
  scope: Exclude<FailedSignIn['lock'], null>;
}

/**
 * Verifies e-mail address and password of a sign-in. Failures are counted per address and network, so that an attacker in
 * another network does not lock the owner out, and for all networks together. A known browser has its own counter and is
 * not affected by the other locks. A new password starts new counters.
 */
@Injectable()
export class PasswordSignIn {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly locks: GuessLocks,
    private readonly limits: RateLimits,
    private readonly log: SignInLog,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 503 `overloaded` when too many passwords are being compared */
  async verify({ email, password, ip, knownBrowser = null }: SignInAttempt): Promise<SignInOutcome> {
    const limit = { scope: 'sign-in', requests: this.config.SIGN_IN_PER_MINUTE, perSeconds: 60 };
    const wait = await this.limits.take({ limit, subject: networkOf(ip) });
    if (wait > 0) return { outcome: 'limited', wait };
    if (email.length > MAX_EMAIL || password.length > MAX_PASSWORD || !isStorable(email))
      return { outcome: 'rejected' };
    const account = await this.credentials.byEmail(email);
    const changedAt = account?.password_changed_at ?? null;
    const counters = countersOf(`${emailKey(email)} ${changedAt?.getTime() ?? 0}`, ip, knownBrowser);
    const guess = await this.begin(counters);
    if (guess.wait > 0) return { outcome: 'limited', wait: guess.wait };
    const matches = await this.matches(account, password, counters);
    if (!matches || account?.status !== 'active') {
      await this.log.recordFailure({
        accountId: account?.id ?? null,
        factor: 'password',
        ip,
        lock: guess.lock,
      });
      return { outcome: 'rejected' };
    }
    await this.db.tx(async (tx) => {
      for (const { limit: counted, subject } of counters) await this.locks.forget(tx, counted, subject);
    });
    return {
      outcome: 'ok',
      accountId: account.id,
      email: account.email,
      displayName: account.display_name,
      secondFactor: account.second_factor_since !== null,
      passwordChangedAt: account.password_changed_at,
    };
  }

  /** A password that cannot be compared is no failure. */
  private async matches(
    account: CredentialsRow | null,
    password: string,
    counters: readonly GuessCounter[],
  ): Promise<boolean> {
    try {
      return await this.credentials.passwordMatches(account, password);
    } catch (error) {
      await this.discount(counters);
      throw error;
    }
  }

  /** Counts a guess. `wait`: seconds; `lock`: the lock that a failure of this guess causes. */
  private async begin(
    counters: readonly GuessCounter[],
  ): Promise<{ wait: number; lock: FailedSignIn['lock'] }> {
    let lock: FailedSignIn['lock'] = null;
    for (const [index, { limit, subject, scope }] of counters.entries()) {
      const guess = await this.locks.begin(limit, subject);
      if (!guess.allowed) {
        if (index > 0) await this.discount(counters.slice(0, index));
        return { wait: guess.wait, lock: null };
      }
      if (guess.last) lock = scope;
    }
    return { wait: 0, lock };
  }

  /** Takes back a guess that was not verified. */
  private async discount(counters: readonly GuessCounter[]): Promise<void> {
    await this.db.tx(async (tx) => {
      for (const { limit, subject } of counters) await this.locks.giveBack(tx, limit, subject);
    });
  }
}

function countersOf(address: string, ip: string | null, knownBrowser: string | null): GuessCounter[] {
  if (knownBrowser !== null)
    return [{ limit: SIGN_IN, subject: `${address} browser ${knownBrowser}`, scope: 'browser' }];
  return [
    { limit: SIGN_IN, subject: `${address} network ${networkOf(ip)}`, scope: 'network' },
    { limit: SIGN_IN_ANYWHERE, subject: address, scope: 'address' },
  ];
}
