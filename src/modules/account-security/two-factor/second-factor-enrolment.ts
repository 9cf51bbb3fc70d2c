import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { GuessLocks } from '../../../platform/rate-limits/guess-locks.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { type CredentialsRow, IdentityApi } from '../../identity/index.js';
import { SECOND_FACTOR } from '../model/guess-limits.js';
import {
  newRecoveryCodes,
  newTotpSecret,
  plainRecoveryCode,
  qrPng,
  totpEnrolment,
  totpStep,
} from './codes.js';
import { RECOVERY_CODE, SecondFactorsRepository, TOTP_SECRET } from './second-factors.js';
import type { TwoFactorInitiated } from './two-factor.dto.js';

/** Time in which a new factor must be enabled. */
const PENDING_SECONDS = 900;
/** Issuer name in the authenticator. */
const ISSUER = 'Workspace';

export type EnableOutcome =
  | { outcome: 'enabled'; recoveryCodes: string[] }
  | { outcome: 'invalid' }
  /** Expired, restarted or enabled by another request meanwhile, or not the first factor. */
  | { outcome: 'not_pending' }
  | { outcome: 'locked'; wait: number };

/** Adds a second factor to an account and removes it. */
@Injectable()
export class SecondFactorEnrolment {
  constructor(
    private readonly repository: SecondFactorsRepository,
    private readonly locks: GuessLocks,
    private readonly box: SecretBox,
    private readonly identity: IdentityApi,
    private readonly db: Db,
  ) {}

  /** State of the authenticator application. Null without one, or when the pending one has expired. */
  async state(accountId: string): Promise<'pending' | 'active' | null> {
    return (await this.repository.read(accountId))?.state ?? null;
  }

  /** Whether the account has an active authenticator application. */
  async isActive(tx: Tx, accountId: string): Promise<boolean> {
    return (await this.repository.methods(tx, accountId)).totp;
  }

  async recoveryCodesLeft(accountId: string): Promise<number> {
    return this.repository.codesLeft(accountId);
  }

  /** Creates a secret, which replaces a pending one. @returns null when a factor is active */
  async begin(account: CredentialsRow): Promise<TwoFactorInitiated | null> {
    const secret = newTotpSecret();
    const sealed = this.box.seal(TOTP_SECRET, account.id, secret);
    const started = await this.db.single((tx) =>
      this.repository.begin(tx, account.id, sealed, PENDING_SECONDS),
    );
    if (!started) return null;
    const shown = totpEnrolment(secret, ISSUER, account.email);
    return {
      secret: shown.secret,
      otpauth_url: shown.url,
      qr_code: await qrPng(shown.url),
      expires_in: PENDING_SECONDS,
    };
  }

  /** The secret of the pending factor, and its URL. @returns null without one, or when it has expired */
  async readPending({ id, email }: CredentialsRow): Promise<{ secret: string; url: string } | null> {
    const factor = await this.repository.read(id);
    if (factor?.state !== 'pending') return null;
    return totpEnrolment(this.box.open(TOTP_SECRET, id, factor.secret), ISSUER, email);
  }

  /**
   * Enables the pending factor with its first code, which is then used.
   * @param onEnabled runs in the same transaction
   * @param isFirst whether the account must not have another factor
   */
  async enable(
    accountId: string,
    code: string,
    onEnabled: (tx: Tx) => Promise<void>,
    isFirst = false,
  ): Promise<EnableOutcome> {
    const factor = await this.repository.read(accountId);
    if (factor?.state !== 'pending') return { outcome: 'not_pending' };
    const guess = await this.locks.begin(SECOND_FACTOR, accountId);
    if (!guess.allowed) return { outcome: 'locked', wait: guess.wait };
    const found = totpStep(this.box.open(TOTP_SECRET, accountId, factor.secret), code, Date.now());
    if (!found) return { outcome: 'invalid' };
    const recoveryCodes = await this.db.tx(async (tx) => {
      await this.identity.lockAccount(tx, accountId);
      if (isFirst && (await this.repository.methods(tx, accountId)).passkey) return null;
      if (!(await this.repository.activate(tx, accountId, factor.secret, found.step))) return null;
      await this.locks.forget(tx, SECOND_FACTOR, accountId);
      await onEnabled(tx);
      return this.renewCodes(tx, accountId);
    });
    if (recoveryCodes) return { outcome: 'enabled', recoveryCodes };
    // A correct code sent twice is not a guess.
    await this.db.single((tx) => this.locks.giveBack(tx, SECOND_FACTOR, accountId));
    return { outcome: 'not_pending' };
  }

  /** Creates recovery codes and invalidates the previous ones. */
  async renewCodes(tx: Tx, accountId: string): Promise<string[]> {
    const recoveryCodes = newRecoveryCodes();
    await this.repository.putCodes(tx, accountId, this.hashesOf(accountId, recoveryCodes));
    return recoveryCodes;
  }

  /** Removes all factors, passkeys included. @returns whether the account had one */
  async remove(tx: Tx, accountId: string): Promise<boolean> {
    await this.identity.lockAccount(tx, accountId);
    await this.locks.forget(tx, SECOND_FACTOR, accountId);
    return this.repository.remove(tx, accountId);
  }

  private hashesOf(accountId: string, codes: string[]): string[] {
    return codes.map(
      (code) => this.box.hashes(RECOVERY_CODE, accountId, plainRecoveryCode(code) as string)[0],
    );
  }
}
