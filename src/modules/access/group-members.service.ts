import { Injectable } from '@nestjs/common';
import { Audit } from '../../platform/audit/audit.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { JsonReply } from '../../platform/http/json-reply.js';
import { Cursors } from '../../platform/paging/cursors.js';
import type { PageQuery } from '../../platform/paging/page.dto.js';
import type { AddMembers } from './access.dto.js';
import { AccessErrors } from './access.errors.js';
import { permissionsOf, presentMember } from './access.presenter.js';
import type { GroupMemberListEnvelope, RemovedMemberEnvelope } from './access.response.js';
import { Authority, assertHolds } from './authority.js';
import { AuthorityRepository } from './authority.repository.js';
import { GroupMembersRepository } from './group-members.repository.js';
import { type GroupRow, GroupsRepository } from './groups.repository.js';
import { emptyChoice } from './groups.service.js';
import { Membership } from './membership.js';

const NOBODY = '00000000-0000-0000-0000-000000000000';

const isEverybody = (group: GroupRow): boolean => group.system && group.key === 'members';

/** Who is in which group. Adding somebody is granting them what the group allows: one must hold all of it. */
@Injectable()
export class GroupMembersService {
  constructor(
    private readonly members: GroupMembersRepository,
    private readonly groups: GroupsRepository,
    private readonly authority: Authority,
    private readonly authorities: AuthorityRepository,
    private readonly membership: Membership,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(
    ctx: RequestContext,
    groupId: string,
    { cursor, limit }: PageQuery,
  ): Promise<GroupMemberListEnvelope> {
    const group = await this.groups.read(ctx.tenantId, groupId);
    if (!group) throw AccessErrors.groupNotFound.with();
    const scope = `rbac_members ${ctx.tenantId} ${groupId}`;
    const after = cursor === undefined ? NOBODY : (this.cursors.read(scope, cursor)[0] as string);
    const rows = isEverybody(group)
      ? await this.members.listEverybody(ctx.tenantId, after, limit + 1)
      : await this.members.list(ctx.tenantId, groupId, after, limit + 1);
    const given = rows.slice(0, limit);
    const last = given.at(-1);
    const next = last && rows.length > limit ? this.cursors.write(scope, [last.user_id]) : null;
    return { members: given.map(presentMember), next };
  }

  /**
   * 201 with those who came in; 200 with nobody when all were in it already.
   * @throws ApiError 404 for a group or person that is not there; 403 `cannot_grant_unheld`
   */
  async add(ctx: RequestContext, groupId: string, body: Checked<AddMembers>): Promise<JsonReply> {
    return this.db.tx(async (tx) => {
      const group = await this.manageable(tx, ctx, groupId);
      const { user_id, user_ids = [] } = body.value;
      const wanted = [...new Set([...user_ids, ...(user_id === undefined ? [] : [user_id])])].map((id) =>
        id.toLowerCase(),
      );
      if (wanted.length === 0) throw emptyChoice('user_id and user_ids');
      const active = await this.members.active(tx, ctx.tenantId, wanted);
      if (wanted.some((id) => !active.has(id))) throw AccessErrors.memberNotFound.with();
      if (isEverybody(group)) return added([]);
      const before = await this.authorities.activeOwners(tx, [ctx.tenantId]);
      const come = await this.members.add(tx, ctx.tenantId, groupId, wanted, ctx.userId);
      const ids = come.map((member) => member.user_id);
      if (group.system) await this.membership.systemGroupsChanged(tx, ctx.tenantId, ids, before);
      for (const id of ids) await this.log(tx, ctx, 'rbac.member.added', group, id);
      return added(come.map(presentMember));
    });
  }

  /** @throws ApiError 404; 403 `cannot_grant_unheld` or `system_group`; 409 `last_admin` */
  async remove(ctx: RequestContext, groupId: string, userId: string): Promise<RemovedMemberEnvelope> {
    return this.db.tx(async (tx) => {
      const group = await this.manageable(tx, ctx, groupId);
      // Everybody of the workspace is one of its members, as long as they are of the workspace.
      if (isEverybody(group)) throw AccessErrors.systemGroup.with();
      const before = await this.authorities.activeOwners(tx, [ctx.tenantId]);
      const gone = await this.members.remove(tx, ctx.tenantId, groupId, userId);
      if (!gone) throw AccessErrors.notInGroup.with();
      if (group.system) await this.membership.systemGroupsChanged(tx, ctx.tenantId, [userId], before);
      await this.log(tx, ctx, 'rbac.member.removed', group, userId);
      return { removed: true };
    });
  }

  /** A group of which the caller holds everything; other changes wait. */
  private async manageable(tx: Tx, ctx: RequestContext, groupId: string): Promise<GroupRow> {
    const held = await this.authority.begin(tx, ctx);
    const group = await this.groups.read(ctx.tenantId, groupId, tx);
    if (!group) throw AccessErrors.groupNotFound.with();
    assertHolds(held, permissionsOf(group));
    return group;
  }

  private async log(
    tx: Tx,
    ctx: RequestContext,
    action: string,
    group: GroupRow,
    userId: string,
  ): Promise<void> {
    const data = { group_id: group.id, group: group.name };
    await this.audit.record(tx, ctx, { action, objectKind: 'user', objectId: userId, data });
  }
}

function added(members: object[]): JsonReply {
  return new JsonReply(JSON.stringify({ members }), { status: members.length > 0 ? 201 : 200 });
}
