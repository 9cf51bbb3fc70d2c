import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { fold } from '../../../lib/search-text/index.js';
import { Audit, type AuditActor, changes } from '../../../platform/audit/audit.js';
import type { Tx } from '../../../platform/database/tx.js';
import { AccessErrors, type GroupMemberResponse } from '../access.dto.js';
import { Membership } from '../membership.js';
import { GroupMembersRepository } from './group-members.repository.js';
import { type GroupRow, GroupsRepository } from './groups.repository.js';

const MAX_KEY = 63;

/** The user, or the provisioning client, that changes a workspace. */
export type WorkspaceActor = AuditActor & { readonly tenantId: string };

interface NewGroup {
  name: string;
  description?: string;
  /** Default: derived from the name. */
  key?: string;
  permissions?: string[];
}

/**
 * Writes groups and their members, with audit entries. The caller has locked the groups of the workspace and has checked what
 * the actor may do.
 */
@Injectable()
export class GroupChanges {
  constructor(
    private readonly groups: GroupsRepository,
    private readonly members: GroupMembersRepository,
    private readonly membership: Membership,
    private readonly audit: Audit,
  ) {}

  /** @returns the id @throws ApiError 409 `already_exists`; 422 `too_many_groups` */
  async create(tx: Tx, actor: WorkspaceActor, input: NewGroup): Promise<string> {
    const { name, description = '', permissions = [] } = input;
    const id = uuidv7();
    const key = await this.keyFor(tx, actor, id, input);
    const group = { id, key, name, description, folded: foldName(name), permissions };
    const outcome = await this.groups.create(tx, actor.tenantId, actor.userId, group);
    if (outcome === 'already_exists') throw AccessErrors.alreadyExists.with();
    if (outcome === 'too_many') throw AccessErrors.tooManyGroups.with();
    await this.log(tx, actor, 'created', id, { key, name, permissions });
    return id;
  }

  /** @returns false when nothing changes @throws ApiError 409 `already_exists` */
  async update(
    tx: Tx,
    actor: WorkspaceActor,
    group: GroupRow,
    { name, description }: { name: string; description: string },
  ): Promise<boolean> {
    const diff = changes({ name: group.name, description: group.description }, { name, description });
    if (Object.keys(diff.after).length === 0) return false;
    const values = { name, folded: foldName(name), description };
    if (!(await this.groups.update(tx, actor.tenantId, group.id, values)))
      throw AccessErrors.alreadyExists.with();
    await this.log(tx, actor, 'updated', group.id, diff);
    return true;
  }

  async delete(tx: Tx, actor: WorkspaceActor, { id, key, name, permissions }: GroupRow): Promise<void> {
    await this.groups.delete(tx, actor.tenantId, id);
    await this.log(tx, actor, 'deleted', id, { key, name, permissions });
  }

  /** Adds members of the workspace; present ones stay. @returns the added ones */
  async addMembers(
    tx: Tx,
    actor: WorkspaceActor,
    group: GroupRow,
    userIds: string[],
  ): Promise<GroupMemberResponse[]> {
    const before = await this.membership.activeOwners(tx, [actor.tenantId]);
    const added = await this.members.add(tx, actor.tenantId, group.id, userIds, actor.userId);
    const ids = added.map((member) => member.user_id);
    if (group.system) await this.membership.systemGroupsChanged(tx, actor.tenantId, ids, before);
    for (const id of ids) await this.logMember(tx, actor, 'rbac.member.added', group, id);
    return added;
  }

  /** @returns the removed members; absent ones are ignored @throws ApiError 409 `last_admin` */
  async removeMembers(tx: Tx, actor: WorkspaceActor, group: GroupRow, userIds: string[]): Promise<string[]> {
    const before = await this.membership.activeOwners(tx, [actor.tenantId]);
    const removed: string[] = [];
    for (const id of userIds)
      if (await this.members.remove(tx, actor.tenantId, group.id, id)) removed.push(id);
    if (group.system && removed.length > 0)
      await this.membership.systemGroupsChanged(tx, actor.tenantId, removed, before);
    for (const id of removed) await this.logMember(tx, actor, 'rbac.member.removed', group, id);
    return removed;
  }

  private async log(tx: Tx, actor: WorkspaceActor, change: string, id: string, data: object): Promise<void> {
    const entry = { action: `rbac.group.${change}`, objectKind: 'group', objectId: id, data: { ...data } };
    await this.audit.record(tx, actor, entry);
  }

  private async logMember(
    tx: Tx,
    actor: WorkspaceActor,
    action: string,
    { id, name }: GroupRow,
    userId: string,
  ): Promise<void> {
    const data = { group_id: id, group: name };
    await this.audit.record(tx, actor, { action, objectKind: 'user', objectId: userId, data });
  }

  /** The requested key, or one derived from the name. */
  private async keyFor(tx: Tx, actor: WorkspaceActor, id: string, { key, name }: NewGroup): Promise<string> {
    if (key !== undefined) return key;
    const own = id.slice(-8);
    const created = fold(name)
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, MAX_KEY - own.length - 1);
    if (created === '') return `group-${own}`;
    return (await this.groups.keyTaken(tx, actor.tenantId, created)) ? `${created}-${own}` : created;
  }
}

/** Comparison key of a name: ignores case, accents and repeated spaces, which users cannot distinguish. */
function foldName(name: string): string {
  return fold(name).replace(/\s+/gu, ' ').trim();
}
