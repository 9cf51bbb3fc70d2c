import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import {
  AccessErrors,
  type AddedMembersEnvelope,
  type GroupMemberListEnvelope,
  type GroupMemberResponse,
  type RemovedMemberEnvelope,
} from '../access.dto.js';
import { Authority, assertHolds } from '../authority.js';
import { GroupChanges } from './group-changes.js';
import { GroupMembersRepository } from './group-members.repository.js';
import type { AddGroupMembers } from './groups.dto.js';
import { permissionsOf } from './groups.presenter.js';
import { type GroupRow, GroupsRepository } from './groups.repository.js';
import { oneOrMore } from './groups.service.js';

export const isMembersGroup = (group: GroupRow): boolean => group.system && group.key === 'members';

/** Members of groups. Adding a member grants the permissions of the group, so the caller must hold all of them. */
@Injectable()
export class GroupMembersService {
  constructor(
    private readonly members: GroupMembersRepository,
    private readonly groups: GroupsRepository,
    private readonly authority: Authority,
    private readonly changes: GroupChanges,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, groupId: string, query: PageQuery): Promise<GroupMemberListEnvelope> {
    const group = await this.groups.readExisting(this.db, ctx.tenantId, groupId);
    const { rows, next } = await this.cursors.page(query, {
      scope: `rbac_members ${ctx.tenantId} ${groupId}`,
      key: ({ user_id }: GroupMemberResponse): [string] => [user_id],
      rows: (after, limit) =>
        isMembersGroup(group)
          ? this.members.listAllActive(ctx.tenantId, after, limit)
          : this.members.list(ctx.tenantId, groupId, after, limit),
    });
    return { members: rows, next };
  }

  /**
   * 201 with the added members; 200 with an empty list when all were members already.
   * @throws ApiError 404 for an unknown group or user; 403 `cannot_grant_unheld`
   */
  async add(
    ctx: RequestContext,
    groupId: string,
    body: Checked<AddGroupMembers>,
  ): Promise<JsonReply<AddedMembersEnvelope>> {
    return this.db.tx(async (tx) => {
      const group = await this.manageable(tx, ctx, groupId);
      const { user_id, user_ids } = body.value;
      const wanted = oneOrMore('user_id and user_ids', user_id, user_ids).map((id) => id.toLowerCase());
      const active = await this.members.findActive(tx, ctx.tenantId, wanted);
      if (wanted.some((id) => !active.has(id))) throw AccessErrors.memberNotFound.with();
      if (isMembersGroup(group)) return added([]);
      return added(await this.changes.addMembers(tx, ctx, group, wanted));
    });
  }

  /** @throws ApiError 404; 403 `cannot_grant_unheld` or `system_group`; 409 `last_admin` */
  async remove(ctx: RequestContext, groupId: string, userId: string): Promise<RemovedMemberEnvelope> {
    return this.db.tx(async (tx) => {
      const group = await this.manageable(tx, ctx, groupId);
      // Every active member of the workspace is in the group `members`.
      if (isMembersGroup(group)) throw AccessErrors.systemGroup.with();
      const [removed] = await this.changes.removeMembers(tx, ctx, group, [userId]);
      if (removed === undefined) throw AccessErrors.notInGroup.with();
      return { removed: true };
    });
  }

  /** Reads a group of which the caller holds all permissions, and locks the groups. */
  private async manageable(tx: Tx, ctx: RequestContext, groupId: string): Promise<GroupRow> {
    const held = await this.authority.begin(tx, ctx);
    const group = await this.groups.readExisting(tx, ctx.tenantId, groupId);
    assertHolds(held, permissionsOf(group));
    return group;
  }
}

function added(members: GroupMemberResponse[]): JsonReply<AddedMembersEnvelope> {
  return JsonReply.of({ members }, { status: members.length > 0 ? 201 : 200 });
}
