import { Injectable } from '@nestjs/common';
import { Audit } from '../../platform/audit/audit.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { TenantsApi } from '../tenants/index.js';

/** Security events of an account. The owner is notified of each, regardless of preferences. */
export type SecurityEventType =
  | 'security.new_browser'
  | 'security.password_changed'
  | 'security.email_changed'
  | 'security.second_factor_enabled'
  | 'security.second_factor_disabled'
  | 'security.second_factor_locked'
  | 'security.passkey_added'
  | 'security.passkey_removed'
  | 'security.recovery_code_used'
  | 'security.recovery_codes_renewed'
  | 'security.sessions_ended'
  | 'security.application_password_created'
  | 'security.application_password_deleted';

/** The account that acts or is affected. */
export type SecurityActor = Pick<AccountContext, 'tenantId' | 'userId'> &
  Partial<Pick<AccountContext, 'sessionId' | 'requestId' | 'ip'>>;

/** Writes security events to the audit log and, for notifications, to the outbox. */
@Injectable()
export class SecurityLog {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly tenants: TenantsApi,
  ) {}

  /** @param data facts for the notification, without secrets */
  async record(
    tx: Tx,
    actor: SecurityActor,
    type: SecurityEventType,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.recordOnly(tx, actor, type, data);
    // Notify in the workspace of the session, else in any workspace of the account.
    const tenantId = actor.tenantId ?? (await this.tenants.anyTenantOf(tx, actor.userId));
    if (tenantId === null) return;
    const payload = {
      user_id: actor.userId,
      session_id: actor.sessionId ?? null,
      ip: actor.ip ?? null,
      ...data,
    };
    await this.outbox.append(tx, { tenantId, type, payload });
  }

  /** Writes to the audit log only, for events without a notification. */
  async recordOnly(
    tx: Tx,
    actor: SecurityActor,
    action: string,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.audit.record(tx, actor, { action, objectKind: 'user', objectId: actor.userId, data });
  }
}
