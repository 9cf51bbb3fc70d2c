import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type { TenantRole } from '../../platform/context/request-context.js';
import { rowsOf } from '../../platform/database/rows.js';
import type { Tx } from '../../platform/database/tx.js';
import { RbacGroup } from './access.entity.js';
import { AccessErrors } from './access.errors.js';
import { permissionsOf } from './groups/groups.presenter.js';
import { GroupMembersRepository } from './groups/group-members.repository.js';
import { type GroupRow, GroupsRepository } from './groups/groups.repository.js';
import { Membership } from './membership.js';

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

  /** As `permissionsOf`, without groups that no longer exist. */
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
    for (const id of ids) rows.push(await this.groups.existing(tx, tenantId, id));
    return rows;
  }
}
