import { Injectable } from '@nestjs/common';
import type { RequestContext, TenantRole, MemberKey } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { IdentityApi } from '../identity/index.js';
import { TenantsApi } from '../tenants/index.js';
import { assertHolds, Authority } from './authority.js';
import { AuthorityRepository } from './authority.repository.js';
import { NewMemberGroups } from './new-member-groups.js';
import type { Permission } from './permissions.js';

interface Admission {
  role: TenantRole;
  groupIds: string[];
  /** The member who admits; null: a rule of the workspace. */
  by: string | null;
}

/** Makes accounts members of a workspace, with a role and groups. */
@Injectable()
export class MemberAdmission {
  constructor(
    private readonly repository: AuthorityRepository,
    private readonly authority: Authority,
    private readonly groups: NewMemberGroups,
    private readonly tenants: TenantsApi,
    private readonly identity: IdentityApi,
  ) {}

  /** Locks members and groups of a workspace against other changes, until the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<void> {
    await this.repository.lock(tx, tenantId);
  }

  /**
   * Checks that the caller has a permission, and all permissions that a role and groups give.
   * @throws ApiError 403 `forbidden`, `cannot_grant_unheld`; 422 `unknown_group`
   */
  async assertMayGive(
    tx: Tx,
    ctx: RequestContext,
    needed: Permission,
    { role, groupIds }: Pick<Admission, 'role' | 'groupIds'>,
  ): Promise<void> {
    const held = await this.authority.begin(tx, ctx, needed);
    assertHolds(held, await this.groups.permissionsOf(tx, ctx.tenantId, role, groupIds));
  }

  /**
   * Checks that the caller has a permission, and all permissions of a member in whose name it could act.
   * @throws ApiError 403 `forbidden`, `cannot_grant_unheld`
   */
  async assertMayControl(tx: Tx, ctx: MemberKey, needed: Permission, userId: string): Promise<void> {
    const held = await this.authority.begin(tx, ctx, needed);
    assertHolds(held, await this.authority.inTx(tx, ctx.tenantId, userId, { includeDeactivated: true }));
  }

  /** Adds a member. The caller holds the lock. Groups that no longer exist are skipped. */
  async join(
    tx: Tx,
    tenantId: string,
    account: { id: string; email: string; displayName: string },
    admission: Admission,
  ): Promise<void> {
    const { id: userId, email, displayName } = account;
    await this.tenants.provisionMembers(tx, tenantId, [{ userId, email, displayName, role: null }]);
    await this.groups.join(tx, tenantId, userId, admission);
    await this.identity.recordAccessChange(tx, userId, tenantId);
  }
}
