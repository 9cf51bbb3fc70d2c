import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { type SecurityActor, SecurityLog, SignInLog } from '../../security-log.js';
import { PasskeyChallenges } from './passkey-challenges.js';
import {
  credentialOf,
  PasskeySite,
  type RequestOptions,
  requestOptions,
  userHandle,
  verifyAssertion,
} from './webauthn.js';
import { PasskeysRepository, type StoredPasskey } from './passkeys.repository.js';

/** An assertion of a passkey. */
interface PasskeyProof {
  /** The session of the caller, or the sign-in of the browser, for which the options were created. */
  subject: string;
  /** AuthenticationResponseJSON of WebAuthn; any other value is invalid. */
  credential: unknown;
  /** The account that proves its second factor; null: the passkey is the only factor and identifies the account. */
  accountId: string | null;
}

interface ProvenPasskey {
  accountId: string;
}

/** Verifies passkeys: as second factor of an account, or with user verification as the only factor. */
@Injectable()
export class PasskeyProofs {
  constructor(
    private readonly repository: PasskeysRepository,
    private readonly challenges: PasskeyChallenges,
    private readonly site: PasskeySite,
    private readonly log: SecurityLog,
    private readonly signIns: SignInLog,
    private readonly db: Db,
  ) {}

  /** Options for a sign-in without a password; null where passkeys are not available. */
  async signInOptions(subject: string): Promise<RequestOptions | null> {
    if (!this.site.isAvailable) return null;
    const challenge = await this.challenges.create('sign_in', subject);
    return requestOptions({ site: this.site, challenge }, [], 'required');
  }

  /** Options for the second factor of an account; null without a passkey. */
  async secondFactorOptions(subject: string, accountId: string): Promise<RequestOptions | null> {
    if (!this.site.isAvailable) return null;
    const passkeys = await this.repository.credentials(accountId);
    if (passkeys.length === 0) return null;
    const challenge = await this.challenges.create('second_factor', subject);
    return requestOptions({ site: this.site, challenge }, passkeys, 'preferred');
  }

  /**
   * Verifies an assertion and uses its challenge.
   * @param by the actor, for the audit log
   * @param then runs in the transaction that records the use
   * @returns null for an invalid assertion, a used challenge, an unknown passkey or one of another account
   */
  async verify(
    proof: PasskeyProof,
    by: Partial<SecurityActor> = {},
    then: (tx: Tx) => Promise<void> = async () => undefined,
  ): Promise<ProvenPasskey | null> {
    const ceremony = proof.accountId === null ? 'sign_in' : 'second_factor';
    const challenge = await this.challenges.take(ceremony, proof.subject);
    const passkey = challenge && (await this.passkeyOf(proof));
    if (!challenge || !passkey) return null;
    const { accountId, id, name } = passkey;
    const expected = { site: this.site, challenge };
    const result = await verifyAssertion(expected, proof.credential, passkey, proof.accountId === null);
    const isUsed =
      result !== null &&
      (await this.db.tx(async (tx) => {
        if (!(await this.repository.use(tx, id, result.counter, result.synced))) return false;
        const actor = { tenantId: null, ...by, userId: accountId };
        await this.log.recordOnly(tx, actor, 'security.passkey_used', { passkey_id: id, name, ceremony });
        await then(tx);
        return true;
      }));
    if (isUsed) return { accountId };
    await this.signIns.recordFailure({ accountId, factor: 'passkey', ip: by.ip ?? null, lock: null });
    return null;
  }

  private async passkeyOf({ credential, accountId }: PasskeyProof): Promise<StoredPasskey | null> {
    const named = credentialOf(credential);
    const passkey = named && (await this.repository.byCredential(named.credentialId));
    if (!named || !passkey) return null;
    if (accountId !== null && passkey.accountId !== accountId) return null;
    const isOwner = named.userHandle === null || named.userHandle.equals(userHandle(passkey.accountId));
    return isOwner ? passkey : null;
  }
}
