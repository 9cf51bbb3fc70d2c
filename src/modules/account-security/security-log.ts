import { Injectable } from '@nestjs/common';
import { Audit } from '../../platform/audit/audit.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { TenantsApi } from '../tenants/index.js';

/** What happened to the safety of an account. Its owner is told of each, whatever their preferences say. */
export type SecurityEventType =
  | 'security.password_changed'
  | 'security.second_factor_enabled'
  | 'security.second_factor_disabled'
  | 'security.second_factor_locked'
  | 'security.recovery_code_used'
  | 'security.recovery_codes_renewed'
  | 'security.sessions_ended'
  | 'security.application_password_created'
  | 'security.application_password_deleted';

/** Who did it, or to whom. */
export type SecurityActor = Pick<AccountContext, 'tenantId' | 'userId'> &
  Partial<Pick<AccountContext, 'sessionId' | 'requestId' | 'ip'>>;

/** Writes what happened to the audit log and, as an event for notifications, to the outbox. */
@Injectable()
export class SecurityLog {
  constructor(
    private readonly audit: Audit,
    private readonly outbox: Outbox,
    private readonly tenants: TenantsApi,
  ) {}

  /** @param data facts without secrets; ids and what a message to the owner needs */
  async record(
    tx: Tx,
    actor: SecurityActor,
    type: SecurityEventType,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.recordOnly(tx, actor, type, data);
    // An account is told in the workspace it works in; without one, in one it belongs to.
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

  /** The audit log alone, for what nobody needs a message about. */
  async recordOnly(
    tx: Tx,
    actor: SecurityActor,
    action: string,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await this.audit.record(tx, actor, { action, objectKind: 'user', objectId: actor.userId, data });
  }
}
