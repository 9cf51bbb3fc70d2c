import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { AccountContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { TxHooks } from '../../../../platform/events/tx-hooks.js';
import { QUOTAS } from '../../../../platform/quotas/quotas.js';
import { ACCOUNT_CLOSED, CredentialsApi, IdentityApi, SessionsApi } from '../../../identity/index.js';
import { TenantErrors, TenantsApi } from '../../../tenants/index.js';
import { SecurityErrors } from '../../account-security.errors.js';
import { Confirmation } from '../../confirmation.js';
import { SecurityLog } from '../../security-log.js';
import { SecondFactorEnrolment } from '../second-factor-enrolment.js';
import { TwoFactorService } from '../two-factor.service.js';
import { PasskeyChallenges } from './passkey-challenges.js';
import { type CreationOptions, creationOptions, PasskeySite, verifyCreation } from './webauthn.js';
import type { PasskeyResponse } from './passkey.dto.js';
import { PasskeysRepository } from './passkeys.repository.js';

/** Passkeys of one account. */

/** The owner of passkeys in a session; `sessionId` null: in a sign-in, which has proven the password only. */
export type PasskeyOwner = Pick<AccountContext, 'userId' | 'tenantId' | 'sessionId'> &
  Partial<Pick<AccountContext, 'requestId' | 'ip'>>;

interface Registered {
  passkey: PasskeyResponse;
  /** New recovery codes, when the passkey is the first factor; else null. */
  recoveryCodes: string[] | null;
}

/**
 * Registers, lists, renames and removes passkeys. The first passkey of an account without an authenticator enables the second
 * factor; the removal of the last factor disables it.
 */
@Injectable()
export class Passkeys implements OnModuleInit {
  constructor(
    private readonly repository: PasskeysRepository,
    private readonly challenges: PasskeyChallenges,
    private readonly site: PasskeySite,
    private readonly enrolment: SecondFactorEnrolment,
    private readonly twoFactor: TwoFactorService,
    private readonly confirmation: Confirmation,
    private readonly credentials: CredentialsApi,
    private readonly identity: IdentityApi,
    private readonly sessions: SessionsApi,
    private readonly tenants: TenantsApi,
    private readonly hooks: TxHooks,
    private readonly log: SecurityLog,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.hooks.on(ACCOUNT_CLOSED, (tx, { accountId }) => this.removeAll(tx, accountId));
  }

  /** @throws ApiError 409 `managed_externally`, 409 `passkeys_unavailable` */
  requireAvailable(): void {
    this.confirmation.requireLocal();
    if (!this.site.isAvailable) throw SecurityErrors.passkeysUnavailable.with();
  }

  /**
   * A second factor would block the tokens of a service account, which has no browser to prove it.
   * @throws ApiError 409 `service_account`, 409 `managed_externally`, 409 `passkeys_unavailable`
   */
  async requireAllowed({ tenantId, userId }: PasskeyOwner): Promise<void> {
    if (tenantId !== null && (await this.tenants.isService(tenantId, userId)))
      throw SecurityErrors.serviceAccount.with();
    this.requireAvailable();
  }

  async list(accountId: string): Promise<PasskeyResponse[]> {
    return this.repository.list(accountId);
  }

  /** @throws ApiError 404 */
  async requireOwned(accountId: string, id: string): Promise<void> {
    const passkeys = await this.repository.list(accountId);
    if (!passkeys.some((passkey) => passkey.id === id)) throw SecurityErrors.notFound.with();
  }

  /** @throws ApiError those of `requireAllowed` */
  async begin(owner: PasskeyOwner): Promise<CreationOptions> {
    await this.requireAllowed(owner);
    const account = await this.credentials.byId(owner.userId);
    if (!account) throw SecurityErrors.notFound.with();
    const existing = await this.repository.credentials(owner.userId);
    const challenge = await this.challenges.create('registration', subjectOf(owner));
    return creationOptions({ site: this.site, challenge }, account, existing);
  }

  /**
   * Registers the passkey of a response to `begin` and uses its challenge. The session is then verified. A sign-in registers
   * the first factor only.
   * @param credential RegistrationResponseJSON of WebAuthn; any other value is invalid
   * @throws ApiError 422 `invalid_passkey`, 422 `too_many_passkeys`, 409 `passkey_registered`, 409 `second_factor_enabled`,
   *   and those of `begin`
   */
  async register(owner: PasskeyOwner, name: string, credential: unknown): Promise<Registered> {
    await this.requireAllowed(owner);
    const challenge = await this.challenges.take('registration', subjectOf(owner));
    const created = challenge && (await verifyCreation({ site: this.site, challenge }, credential));
    if (!created) throw SecurityErrors.invalidPasskey.with();
    const registered = await this.db.tx(async (tx) => {
      await this.lock(tx, owner.userId);
      if (owner.sessionId === null && (await this.hasFactor(tx, owner.userId)))
        throw SecurityErrors.alreadyEnabled.with();
      const existing = await this.repository.list(owner.userId, tx);
      if (existing.length >= QUOTAS.account.passkeys) throw SecurityErrors.tooManyPasskeys.with();
      const passkey = await this.repository.insert(tx, uuidv7(), owner.userId, name, created);
      if (!passkey) throw SecurityErrors.passkeyRegistered.with();
      await this.log.record(tx, owner, 'security.passkey_added', {
        passkey_id: passkey.id,
        description: name,
      });
      const recoveryCodes = await this.enable(tx, owner, existing.length > 0);
      return { passkey, recoveryCodes };
    });
    await this.sessions.refreshNow();
    return registered;
  }

  /** @throws ApiError 404 */
  async rename(owner: PasskeyOwner, id: string, name: string): Promise<PasskeyResponse> {
    return this.db.tx(async (tx) => {
      const passkey = await this.repository.rename(tx, owner.userId, id, name);
      if (!passkey) throw SecurityErrors.notFound.with();
      await this.log.recordOnly(tx, owner, 'security.passkey_renamed', { passkey_id: id, name });
      return passkey;
    });
  }

  /** @throws ApiError 404; 403 `required_by_policy` for the last factor */
  async remove(owner: PasskeyOwner, id: string): Promise<void> {
    const isRequired = await this.twoFactor.isRequired(owner.userId);
    await this.db.tx(async (tx) => {
      await this.lock(tx, owner.userId);
      const removed = await this.repository.remove(tx, owner.userId, id);
      if (!removed) throw SecurityErrors.notFound.with();
      const data = { passkey_id: id, description: removed.name };
      await this.log.record(tx, owner, 'security.passkey_removed', data);
      if (await this.hasFactor(tx, owner.userId)) return;
      if (isRequired) throw TenantErrors.requiredByPolicy.with();
      await this.twoFactor.remove(tx, owner.userId);
      await this.log.recordOnly(tx, owner, 'security.second_factor_disabled');
    });
    await this.sessions.refreshNow();
  }

  /** Serialises changes of the factors of an account. @throws ApiError 404 for a closed account */
  private async lock(tx: Tx, accountId: string): Promise<void> {
    await this.identity.lockAccount(tx, accountId);
    const active = await this.identity.activeAccounts(tx, [accountId]);
    if (!active.has(accountId)) throw SecurityErrors.notFound.with();
  }

  private async hasFactor(tx: Tx, accountId: string): Promise<boolean> {
    return (await this.repository.list(accountId, tx)).length > 0 || this.enrolment.isActive(tx, accountId);
  }

  /** Enables the second factor unless it is on. @returns the recovery codes of a new second factor */
  private async enable(tx: Tx, owner: PasskeyOwner, hasPasskeys: boolean): Promise<string[] | null> {
    const { userId, sessionId } = owner;
    if (sessionId !== null) await this.sessions.setAal2(tx, sessionId);
    if (hasPasskeys || (await this.enrolment.isActive(tx, userId))) return null;
    await this.credentials.setSecondFactor(tx, userId, true);
    await this.sessions.invalidate(tx, userId);
    await this.log.recordOnly(tx, owner, 'security.second_factor_enabled');
    return this.enrolment.renewCodes(tx, userId);
  }

  /** A closed account loses its passkeys. Without another factor its second factor is disabled, in case it is reopened. */
  private async removeAll(tx: Tx, accountId: string): Promise<void> {
    const passkeys = await this.repository.list(accountId, tx);
    for (const { id } of passkeys) await this.repository.remove(tx, accountId, id);
    if (passkeys.length > 0 && !(await this.enrolment.isActive(tx, accountId)))
      await this.twoFactor.remove(tx, accountId);
  }
}

/** A ceremony belongs to the session of the caller. */
export const subjectOf = ({ sessionId, userId }: PasskeyOwner): string => sessionId ?? userId;
