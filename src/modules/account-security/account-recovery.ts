import { Injectable } from '@nestjs/common';
import { type AuditActor, operator, Audit } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { CredentialsApi, Passwords, SessionsApi } from '../identity/index.js';
import { TenantsApi } from '../tenants/index.js';
import { ApplicationPasswords } from './application-passwords/application-passwords.service.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { AccountTokens } from './recovery/account-tokens.js';
import type { SecurityEventType } from './security-log.js';
import { TwoFactorService } from './two-factor/two-factor.service.js';

/** Operator actions for users who lost their password or second factor. */
@Injectable()
export class AccountRecovery {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly twoFactor: TwoFactorService,
    private readonly sessions: SessionsApi,
    private readonly applications: ApplicationPasswords,
    private readonly tokens: AccountTokens,
    private readonly tenants: TenantsApi,
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  /** Removes the second factor. @returns whether the account had one */
  async removeSecondFactor(accountId: string): Promise<boolean> {
    return this.db.tx(async (tx) => {
      const removed = await this.twoFactor.remove(tx, accountId);
      if (removed) await this.record(tx, accountId, 'security.second_factor_disabled');
      return removed;
    });
  }

  /**
   * Removes the second factor for an administrator, and ends all sessions: another person may have the lost device.
   * @param by the administrator
   */
  async removeSecondFactorBy(
    tx: Tx,
    accountId: string,
    by: AuditActor & { tenantId: string },
  ): Promise<void> {
    await this.twoFactor.remove(tx, accountId);
    await this.sessions.endOthers(tx, accountId, null);
    const action: SecurityEventType = 'security.second_factor_disabled';
    await this.audit.record(tx, by, { action, objectKind: 'user', objectId: accountId });
    const payload = { user_id: accountId, by_admin: true };
    await this.outbox.append(tx, { tenantId: by.tenantId, type: action, payload });
  }

  /**
   * Sets a password, and ends all sessions and application passwords.
   * @throws ApiError 422 `weak_password`; Error for an unknown account or a concurrent change
   */
  async setPassword(accountId: string, password: string): Promise<void> {
    const account = await this.credentials.byId(accountId);
    if (!account) throw new Error('The account does not exist.');
    await this.policy.check(password, account);
    const hash = await this.passwords.hash(password);
    await this.db.tx(async (tx) => {
      if (!(await this.credentials.setPassword(tx, accountId, account.password_hash, hash)))
        throw new Error('The password has changed meanwhile.');
      await this.tokens.endAccessLinks(tx, accountId);
      const ended = await this.sessions.endOthers(tx, accountId, null);
      const applications = await this.applications.endAll(tx, accountId, null);
      const counts = { sessions_ended: ended, applications_ended: applications };
      await this.record(tx, accountId, 'security.password_changed', counts);
    });
  }

  private async record(
    tx: Tx,
    accountId: string,
    action: SecurityEventType,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.audit.record(tx, operator(null), { action, objectKind: 'user', objectId: accountId, data });
    const tenantId = await this.tenants.anyTenantOf(tx, accountId);
    if (tenantId === null) return;
    await this.outbox.append(tx, {
      tenantId,
      type: action,
      payload: { user_id: accountId, by_operator: true },
    });
  }
}
