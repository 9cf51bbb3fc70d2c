import { Injectable } from '@nestjs/common';
import { Audit, type AuditActor } from '../../../platform/audit/audit.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { IdentityApi } from '../../identity/index.js';
import { type MemberStatus, TenantsApi } from '../../tenants/index.js';
import { AccessErrors } from '../access.dto.js';

/** Deactivates and activates members of a workspace. The caller has locked the groups and has checked what the actor may do. */
@Injectable()
export class MemberStatusChanges {
  constructor(
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
  ) {}

  /**
   * A deactivation ends the sessions of the member in the workspace. An activation reopens an account that its owner closed.
   * @returns false when the member has the status already @throws ApiError 409 `last_admin`, `account_closed`
   */
  async set(
    tx: Tx,
    actor: AuditActor & { readonly tenantId: string },
    member: { user_id: string; status: MemberStatus },
    status: MemberStatus,
  ): Promise<boolean> {
    const { user_id: userId } = member;
    const { tenantId } = actor;
    if (status === 'active' && !(await this.identity.reopen(tx, userId)))
      throw AccessErrors.accountClosed.with();
    if (member.status === status) return false;
    await this.tenants.setMemberStatus(tx, userId, tenantId, status);
    await (status === 'active'
      ? this.identity.recordAccessChange(tx, userId, tenantId)
      : this.identity.endSessionsIn(tx, userId, tenantId));
    const change = status === 'active' ? 'activated' : 'deactivated';
    await this.audit.record(tx, actor, { action: `user.${change}`, objectKind: 'user', objectId: userId });
    await this.outbox.append(tx, { tenantId, type: `member.${change}`, payload: { user_id: userId } });
    return true;
  }
}
