import { Injectable } from '@nestjs/common';
import { NIL } from 'uuid';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { GroupMemberResponse } from '../access.dto.js';
import type { RbacMember } from '../access.schema.js';

/** It precedes the first user. */
const FIRST = [NIL] as const;

const MEMBER = `member.user_id, member.display_name, member.email, member.status`;

const list = workspace.statement<GroupMemberResponse>(
  'access.list_members',
  `SELECT ${MEMBER}, membership.added_by, membership.created_at AS added_at
     FROM rbac_members membership
     JOIN member_profiles member ON member.tenant_id = membership.tenant_id AND member.user_id = membership.user_id
    WHERE membership.tenant_id = $1 AND membership.group_id = $2 AND membership.user_id > $3 ORDER BY membership.user_id LIMIT $4`,
);

const listAllActive = workspace.statement<GroupMemberResponse>(
  'access.list_all_active',
  `SELECT ${MEMBER}, NULL::uuid AS added_by, member.created_at AS added_at FROM member_profiles member
    WHERE member.tenant_id = $1 AND member.status = 'active' AND member.user_id > $2 ORDER BY member.user_id LIMIT $3`,
);

const active = workspace.statement<{ user_id: string }>(
  'access.active_members',
  `SELECT user_id FROM member_profiles WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND status = 'active'`,
);

const add = workspace.statement<GroupMemberResponse>(
  'access.add_members',
  `WITH added AS (
     INSERT INTO rbac_members (tenant_id, group_id, user_id, added_by)
     SELECT $1, $2, user_id, $4 FROM unnest($3::uuid[]) AS given (user_id) ORDER BY user_id ON CONFLICT DO NOTHING
     RETURNING user_id, added_by, created_at),
   counted AS (
     UPDATE rbac_groups SET members_count = members_count + (SELECT count(*) FROM added)
      WHERE tenant_id = $1 AND id = $2 AND EXISTS (SELECT FROM added))
   SELECT ${MEMBER}, added.added_by, added.created_at AS added_at
     FROM added JOIN member_profiles member ON member.tenant_id = $1 AND member.user_id = added.user_id ORDER BY member.user_id`,
);

const remove = workspace.statement<Pick<RbacMember, 'user_id'>>(
  'access.remove_member',
  `WITH removed AS (
     DELETE FROM rbac_members WHERE tenant_id = $1 AND group_id = $2 AND user_id = $3 RETURNING user_id),
   counted AS (
     UPDATE rbac_groups SET members_count = members_count - 1
      WHERE tenant_id = $1 AND id = $2 AND EXISTS (SELECT FROM removed))
   SELECT user_id FROM removed`,
);

/** SQL of group members. */
@Injectable()
export class GroupMembersRepository {
  constructor(private readonly db: Db) {}

  /** Ordered by user id. @param after the last user of the previous page */
  async list(
    tenantId: string,
    groupId: string,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<GroupMemberResponse[]> {
    return this.db.query(list, [tenantId, groupId, ...(after ?? FIRST), limit]);
  }

  /** Members of the group `members`: every active member of the workspace. */
  async listAllActive(
    tenantId: string,
    after: readonly [string] | undefined,
    limit: number,
  ): Promise<GroupMemberResponse[]> {
    return this.db.query(listAllActive, [tenantId, ...(after ?? FIRST), limit]);
  }

  /** Returns the active members of the workspace among `userIds`. */
  async findActive(tx: Tx, tenantId: string, userIds: string[]): Promise<Set<string>> {
    return new Set((await tx.query(active, [tenantId, userIds])).map((row) => row.user_id));
  }

  /** @returns the added members */
  async add(
    tx: Tx,
    tenantId: string,
    groupId: string,
    userIds: string[],
    by: string | null,
  ): Promise<GroupMemberResponse[]> {
    return tx.query(add, [tenantId, groupId, userIds, by]);
  }

  /** @returns false when the user was not a member */
  async remove(tx: Tx, tenantId: string, groupId: string, userId: string): Promise<boolean> {
    return (await tx.query(remove, [tenantId, groupId, userId])).length > 0;
  }
}
