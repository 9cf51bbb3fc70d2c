import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type { MemberKey, RequestContext, TenantRole } from '../../platform/context/request-context.js';
import { rowsOf } from '../../platform/database/rows.js';
import type { Tx } from '../../platform/database/tx.js';
import { IdentityApi } from '../identity/index.js';
import { TenantsApi } from '../tenants/index.js';
import { AccessErrors } from './access.dto.js';
import { RbacGroup } from './access.schema.js';
import { assertHolds, Authority, AuthorityRepository } from './authority.js';
import { GroupMembersRepository } from './groups/group-members.repository.js';
import { permissionsOf } from './groups/groups.presenter.js';
import { type GroupRow, GroupsRepository } from './groups/groups.repository.js';
import { Membership } from './membership.js';
import type { Permission } from './permissions.js';

/** The groups that a new member joins: the group of the role, and groups by id. */
@Injectable()
export class NewMemberGroups {
  constructor(
    private readonly groups: GroupsRepository,
    private readonly members: GroupMembersRepository,
    private readonly membership: Membership,
  ) {}

  /** The permissions that the role and the groups give. @throws ApiError 422 `unknown_group` */
  async permissionsOf(tx: Tx, tenantId: string, role: TenantRole, groupIds: string[]): Promise<Set<string>> {
    const found = await rowsOf(tx, RbacGroup).count({ tenant_id: tenantId, id: In(groupIds) });
    if (found < groupIds.length) throw AccessErrors.unknownGroup.with();
    return this.permissionsOfExisting(tx, tenantId, role, groupIds);
  }

  /** Returns the permissions of the groups that still exist. */
  async permissionsOfExisting(
    tx: Tx,
    tenantId: string,
    role: TenantRole,
    groupIds: string[],
  ): Promise<Set<string>> {
    const groups = await this.rows(tx, tenantId, role, groupIds);
    return new Set(groups.flatMap((group) => permissionsOf(group)));
  }

  /** Adds a member to the groups of the role and to those of `groupIds` that still exist. */
  async join(
    tx: Tx,
    tenantId: string,
    userId: string,
    { role, groupIds, by }: { role: TenantRole; groupIds: string[]; by: string | null },
  ): Promise<void> {
    const before = await this.membership.activeOwners(tx, [tenantId]);
    const groups = await this.rows(tx, tenantId, role, groupIds);
    for (const group of groups) {
      if (group.system && group.key === 'members') continue;
      await this.members.add(tx, tenantId, group.id, [userId], by);
    }
    if (groups.some((group) => group.system))
      await this.membership.systemGroupsChanged(tx, tenantId, [userId], before);
  }

  private async rows(tx: Tx, tenantId: string, role: TenantRole, groupIds: string[]): Promise<GroupRow[]> {
    const groups = rowsOf(tx, RbacGroup);
    const wanted = await groups.all({ tenant_id: tenantId, id: In(groupIds) }, ['id']);
    const system =
      role === 'member'
        ? []
        : await groups.all({ tenant_id: tenantId, system: true, key: `${role}s` }, ['id']);
    const ids = new Set([...system, ...wanted].map(({ id }) => id));
    const rows: GroupRow[] = [];
    for (const id of ids) rows.push(await this.groups.readExisting(tx, tenantId, id));
    return rows;
  }
}

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
