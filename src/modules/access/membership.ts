import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Audit, operator } from '../../platform/audit/audit.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import type { Tx } from '../../platform/database/tx.js';
import { IdentityApi } from '../identity/index.js';
import { MEMBER_ROLES_SET, MEMBERSHIP_CHANGING, TENANT_PROVISIONED } from '../tenants/index.js';
import { AccessErrors } from './access.errors.js';
import { AuthorityRepository } from './authority.repository.js';

/** Keeps groups, roles and memberships in line, and every workspace with an active owner once it has one. */
@Injectable()
export class Membership implements OnModuleInit {
  constructor(
    private readonly repository: AuthorityRepository,
    private readonly identity: IdentityApi,
    private readonly hooks: TxHooks,
    private readonly audit: Audit,
  ) {}

  onModuleInit(): void {
    this.hooks.on(TENANT_PROVISIONED, async (tx, { tenantId }) => {
      await this.repository.found(tx, tenantId);
      // Before the members are written: changes of groups lock in this order.
      await this.repository.lock(tx, tenantId);
    });
    this.hooks.on(MEMBER_ROLES_SET, async (tx, { tenantId, members }) => {
      const before = await this.repository.activeOwners(tx, [tenantId]);
      const changed = new Set(await this.repository.followRoles(tx, tenantId, members));
      await this.assertStillOwned(tx, before);
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
      const owners = await this.repository.activeOwners(tx, tenantIds);
      for (const active of owners.values())
        if (active.length === 1 && active[0] === userId) throw AccessErrors.lastAdmin.with();
    });
  }

  /**
   * After people came into or left the system groups: their roles follow, and every process learns of it.
   * @param ownersBefore active owners by workspace, as they were; @throws ApiError 409 `last_admin`
   */
  async systemGroupsChanged(
    tx: Tx,
    tenantId: string,
    userIds: string[],
    ownersBefore: Map<string, string[]>,
  ): Promise<void> {
    const changed = await this.repository.projectRoles(tx, tenantId, userIds);
    for (const userId of changed) await this.identity.noteAccessChange(tx, userId, tenantId);
    await this.assertStillOwned(tx, ownersBefore);
  }

  /** A workspace that never had an owner may stay so: nobody is taken away from it. */
  private async assertStillOwned(tx: Tx, before: Map<string, string[]>): Promise<void> {
    const after = await this.repository.activeOwners(tx, [...before.keys()]);
    for (const [tenantId, owners] of before)
      if (owners.length > 0 && (after.get(tenantId)?.length ?? 0) === 0) throw AccessErrors.lastAdmin.with();
  }
}
