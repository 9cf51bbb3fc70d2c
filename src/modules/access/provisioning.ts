import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/tx.js';
import type { MemberStatus } from '../tenants/index.js';
import { AccessErrors } from './access.dto.js';
import { AuthorityRepository } from './authority.js';
import { GroupChanges, type WorkspaceActor } from './groups/group-changes.js';
import { isMembersGroup } from './groups/group-members.service.js';
import { type GroupRow, GroupsRepository } from './groups/groups.repository.js';
import { MemberStatusChanges } from './members/member-status.js';

/**
 * Changes of members and groups by a provisioning client, which acts for the workspace and has no permissions of its own.
 * Only owners manage owners: the group `owners` is read-only here, except that a removed member leaves it.
 */
@Injectable()
export class Provisioning {
  constructor(
    private readonly authority: AuthorityRepository,
    private readonly groups: GroupsRepository,
    private readonly changes: GroupChanges,
    private readonly statuses: MemberStatusChanges,
  ) {}

  /** Locks members and groups of a workspace against other changes, until the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<void> {
    await this.authority.lock(tx, tenantId);
  }

  /** @throws ApiError 409 `last_admin`, `account_closed` */
  async setStatus(
    tx: Tx,
    actor: WorkspaceActor,
    member: { user_id: string; status: MemberStatus },
    status: MemberStatus,
  ): Promise<boolean> {
    return this.statuses.set(tx, actor, member, status);
  }

  /** @returns the id @throws ApiError 409 `already_exists`; 422 `too_many_groups` */
  async createGroup(tx: Tx, actor: WorkspaceActor, name: string): Promise<string> {
    return this.changes.create(tx, actor, { name });
  }

  /** @throws ApiError 403 `system_group`; 409 `already_exists` */
  async renameGroup(tx: Tx, actor: WorkspaceActor, id: string, name: string): Promise<void> {
    const group = await this.groups.readExisting(tx, actor.tenantId, id);
    if (group.name === name) return;
    if (group.system) throw AccessErrors.systemGroup.with();
    await this.changes.update(tx, actor, group, { name, description: group.description });
  }

  /** @throws ApiError 403 `system_group` */
  async deleteGroup(tx: Tx, actor: WorkspaceActor, id: string): Promise<void> {
    const group = await this.groups.readExisting(tx, actor.tenantId, id);
    if (group.system) throw AccessErrors.systemGroup.with();
    await this.changes.delete(tx, actor, group);
  }

  /** @param change ids of users to add and to remove @throws ApiError 403 `system_group`; 409 `last_admin` */
  async changeMembers(
    tx: Tx,
    actor: WorkspaceActor,
    id: string,
    { add, remove }: { add: string[]; remove: string[] },
  ): Promise<void> {
    if (add.length + remove.length === 0) return;
    const group = await this.groups.readExisting(tx, actor.tenantId, id);
    if (isOwners(group) || isMembersGroup(group)) throw AccessErrors.systemGroup.with();
    if (add.length > 0) await this.changes.addMembers(tx, actor, group, add);
    if (remove.length > 0) await this.changes.removeMembers(tx, actor, group, remove);
  }

  /** Removes a member from these groups, `owners` included. @throws ApiError 409 `last_admin` */
  async leaveGroups(tx: Tx, actor: WorkspaceActor, userId: string, groupIds: string[]): Promise<void> {
    for (const id of groupIds) {
      const group = await this.groups.readExisting(tx, actor.tenantId, id);
      if (!isMembersGroup(group)) await this.changes.removeMembers(tx, actor, group, [userId]);
    }
  }
}

const isOwners = (group: GroupRow): boolean => group.system && group.key === 'owners';
