import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Audit, operator } from '../../platform/audit/audit.js';
import type { Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { IdentityApi } from '../identity/index.js';
import { MEMBER_ROLES_SET, MEMBERSHIP_CHANGING, TENANT_PROVISIONED, TenantsApi } from '../tenants/index.js';
import { AccessErrors } from './access.dto.js';
import { AuthorityRepository } from './authority.js';

/** Keeps groups, roles and memberships consistent, and keeps an active owner in every workspace that has one. */
@Injectable()
export class Membership implements OnModuleInit {
  constructor(
    private readonly repository: AuthorityRepository,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
    private readonly hooks: TxHooks,
    private readonly audit: Audit,
  ) {}

  onModuleInit(): void {
    this.hooks.on(TENANT_PROVISIONED, async (tx, { tenantId }) => {
      await this.repository.createSystemGroups(tx, tenantId);
      // Lock before the members are written: the lock order of all group changes.
      await this.repository.lock(tx, tenantId);
    });
    this.hooks.on(MEMBER_ROLES_SET, async (tx, { tenantId, members }) => {
      const before = await this.activeOwners(tx, [tenantId]);
      const changed = new Set(await this.repository.applyRolesToGroups(tx, tenantId, members));
      await this.assertOwnerRemains(tx, before);
      for (const { userId, role } of members.filter((member) => changed.has(member.userId)))
        await this.audit.record(tx, operator(tenantId), {
          action: 'rbac.role.set',
          objectKind: 'user',
          objectId: userId,
          data: { role },
        });
    });
    this.hooks.on(MEMBERSHIP_CHANGING, async (tx, { userId, tenantId, status }) => {
      const tenantIds = tenantId === null ? await this.repository.lockAllOf(tx, userId) : [tenantId];
      if (tenantId !== null) await this.repository.lock(tx, tenantId);
      if (status === 'active') return;
      const owners = await this.activeOwners(tx, tenantIds);
      for (const active of owners.values())
        if (active.length === 1 && active[0] === userId) throw AccessErrors.lastAdmin.with();
    });
  }

  /** Active owners by workspace: active members whose account is open. */
  async activeOwners(tx: Tx, tenantIds: string[]): Promise<Map<string, string[]>> {
    const owners = await this.repository.activeOwners(tx, tenantIds);
    const open = await this.identity.activeAccounts(tx, [...owners.values()].flat());
    return new Map([...owners].map(([tenantId, ids]) => [tenantId, ids.filter((id) => open.has(id))]));
  }

  /**
   * Updates roles after members joined or left system groups, and invalidates cached access in every process.
   * @param ownersBefore active owners by workspace before the change @throws ApiError 409 `last_admin`
   */
  async systemGroupsChanged(
    tx: Tx,
    tenantId: string,
    userIds: string[],
    ownersBefore: Map<string, string[]>,
  ): Promise<void> {
    const roles = await this.repository.rolesByGroups(tx, tenantId, userIds);
    const changed = await this.tenants.setRoles(tx, tenantId, roles);
    for (const userId of changed) await this.identity.recordAccessChange(tx, userId, tenantId);
    await this.assertOwnerRemains(tx, ownersBefore);
  }

  /** A workspace without an owner before the change may stay without one. */
  private async assertOwnerRemains(tx: Tx, before: Map<string, string[]>): Promise<void> {
    const after = await this.activeOwners(tx, [...before.keys()]);
    for (const [tenantId, owners] of before)
      if (owners.length > 0 && (after.get(tenantId)?.length ?? 0) === 0) throw AccessErrors.lastAdmin.with();
  }
}
