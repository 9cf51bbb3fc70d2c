import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { GuessLocks } from '../../../platform/rate-limits/guess-locks.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import type { CredentialsRow } from '../../identity/index.js';
import { SECOND_FACTOR } from '../guessables.js';
import { newRecoveryCodes, plainRecoveryCode } from './recovery-codes.js';
import { RECOVERY_CODE, TOTP_SECRET } from './second-factors.js';
import { SecondFactorsRepository } from './second-factors.repository.js';
import { newTotpSecret, totpEnrolment, totpStep } from './totp.js';
import type { TwoFactorInitiated } from './two-factor.response.js';

/** Within which a factor that was begun has to be enabled. */
const PENDING_SECONDS = 900;
/** What the authenticator lists the account under. */
const ISSUER = 'Workspace';

type EnableOutcome =
  | { outcome: 'enabled'; recoveryCodes: string[] }
  | { outcome: 'wrong' }
  /** Lapsed, begun anew or enabled by another request meanwhile. */
  | { outcome: 'gone' }
  | { outcome: 'locked'; wait: number };

/** How a second factor comes to an account, and leaves it. */
@Injectable()
export class SecondFactorEnrolment {
  constructor(
    private readonly repository: SecondFactorsRepository,
    private readonly locks: GuessLocks,
    private readonly box: SecretBox,
    private readonly db: Db,
  ) {}

  /** Null: there is none, or what was begun has lapsed. */
  async state(accountId: string): Promise<'pending' | 'active' | null> {
    return (await this.repository.read(accountId))?.state ?? null;
  }

  async recoveryCodesLeft(accountId: string): Promise<number> {
    return this.repository.codesLeft(accountId);
  }

  /** Makes a secret, in place of one that was begun before. @returns null when a factor is active */
  async begin(account: CredentialsRow): Promise<TwoFactorInitiated | null> {
    const secret = newTotpSecret();
    const sealed = this.box.seal(TOTP_SECRET, account.id, secret);
    const begun = await this.db.single((tx) =>
      this.repository.begin(tx, account.id, sealed, PENDING_SECONDS),
    );
    if (!begun) return null;
    const shown = totpEnrolment(secret, ISSUER, account.email);
    return {
      secret: shown.secret,
      otpauth_url: shown.url,
      qr_code: await qrCode(shown.url),
      expires_in: PENDING_SECONDS,
    };
  }

  /**
   * Turns the pending factor on with its first code, which is thereby used up.
   * @param onEnabled done in the same transaction
   */
  async enable(
    accountId: string,
    code: string,
    onEnabled: (tx: Tx) => Promise<void>,
  ): Promise<EnableOutcome> {
    const factor = await this.repository.read(accountId);
    if (factor?.state !== 'pending') return { outcome: 'gone' };
    const guess = await this.locks.begin(SECOND_FACTOR, accountId);
    if (!guess.allowed) return { outcome: 'locked', wait: guess.wait };
    const found = totpStep(this.box.open(TOTP_SECRET, accountId, factor.secret), code, Date.now());
    if (!found) return { outcome: 'wrong' };
    const recoveryCodes = await this.db.tx(async (tx) => {
      if (!(await this.repository.activate(tx, accountId, factor.secret, found.step))) return null;
      await this.locks.forget(tx, SECOND_FACTOR, accountId);
      await onEnabled(tx);
      return this.renewCodes(tx, accountId);
    });
    if (recoveryCodes) return { outcome: 'enabled', recoveryCodes };
    // A right code, sent twice: no guess.
    await this.db.single((tx) => this.locks.giveBack(tx, SECOND_FACTOR, accountId));
    return { outcome: 'gone' };
  }

  /** Makes recovery codes; those there were are void. */
  async renewCodes(tx: Tx, accountId: string): Promise<string[]> {
    const recoveryCodes = newRecoveryCodes();
    await this.repository.putCodes(tx, accountId, this.hashesOf(accountId, recoveryCodes));
    return recoveryCodes;
  }

  /** @returns whether there was one */
  async remove(tx: Tx, accountId: string): Promise<boolean> {
    await this.locks.forget(tx, SECOND_FACTOR, accountId);
    return this.repository.remove(tx, accountId);
  }

  private hashesOf(accountId: string, codes: string[]): string[] {
    return codes.map(
      (code) => this.box.hashes(RECOVERY_CODE, accountId, plainRecoveryCode(code) as string)[0],
    );
  }
}

/** Loaded when the first one is wanted: few processes ever draw one. */
async function qrCode(text: string): Promise<string> {
  const { default: qr } = await import('qrcode');
  return qr.toDataURL(text, { errorCorrectionLevel: 'M', margin: 4, scale: 4 });
}
