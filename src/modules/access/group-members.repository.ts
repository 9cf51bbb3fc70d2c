import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

export interface GroupMemberRow {
  user_id: string;
  display_name: string;
  email: string;
  status: 'active' | 'deactivated';
  added_by: string | null;
  added_at: Date;
}

const MEMBER = `t.user_id, t.display_name, t.email, t.status`;

const list = workspace.statement<GroupMemberRow>(
  'access.list_members',
  `SELECT ${MEMBER}, m.added_by, m.created_at AS added_at
     FROM rbac_members m JOIN tenant_members t ON t.tenant_id = m.tenant_id AND t.user_id = m.user_id
    WHERE m.tenant_id = $1 AND m.group_id = $2 AND m.user_id > $3 ORDER BY m.user_id LIMIT $4`,
);

const listEverybody = workspace.statement<GroupMemberRow>(
  'access.list_everybody',
  `SELECT ${MEMBER}, NULL::uuid AS added_by, t.created_at AS added_at FROM tenant_members t
    WHERE t.tenant_id = $1 AND t.status = 'active' AND t.user_id > $2 ORDER BY t.user_id LIMIT $3`,
);

const active = workspace.statement<{ user_id: string }>(
  'access.active_members',
  `SELECT user_id FROM tenant_members WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND status = 'active'`,
);

const add = workspace.statement<GroupMemberRow>(
  'access.add_members',
  `WITH come AS (
     INSERT INTO rbac_members (tenant_id, group_id, user_id, added_by)
     SELECT $1, $2, u, $4 FROM unnest($3::uuid[]) AS u ORDER BY u ON CONFLICT DO NOTHING
     RETURNING user_id, added_by, created_at),
   counted AS (
     UPDATE rbac_groups SET members_count = members_count + (SELECT count(*) FROM come)
      WHERE tenant_id = $1 AND id = $2 AND EXISTS (SELECT FROM come))
   SELECT ${MEMBER}, c.added_by, c.created_at AS added_at
     FROM come c JOIN tenant_members t ON t.tenant_id = $1 AND t.user_id = c.user_id ORDER BY t.user_id`,
);

const remove = workspace.statement<{ user_id: string }>(
  'access.remove_member',
  `WITH gone AS (
     DELETE FROM rbac_members WHERE tenant_id = $1 AND group_id = $2 AND user_id = $3 RETURNING user_id),
   counted AS (
     UPDATE rbac_groups SET members_count = members_count - 1
      WHERE tenant_id = $1 AND id = $2 AND EXISTS (SELECT FROM gone))
   SELECT user_id FROM gone`,
);

/** All SQL on who is in which group. */
@Injectable()
export class GroupMembersRepository {
  constructor(private readonly db: Db) {}

  /** In the order of their ids. */
  async list(tenantId: string, groupId: string, after: string, limit: number): Promise<GroupMemberRow[]> {
    return this.db.query(list, [tenantId, groupId, after, limit]);
  }

  /** The members group: everybody active. */
  async listEverybody(tenantId: string, after: string, limit: number): Promise<GroupMemberRow[]> {
    return this.db.query(listEverybody, [tenantId, after, limit]);
  }

  /** Which of these are active members of the workspace. */
  async active(tx: Tx, tenantId: string, userIds: string[]): Promise<Set<string>> {
    return new Set((await tx.query(active, [tenantId, userIds])).map((row) => row.user_id));
  }

  /** @returns those who were not in it */
  async add(
    tx: Tx,
    tenantId: string,
    groupId: string,
    userIds: string[],
    by: string,
  ): Promise<GroupMemberRow[]> {
    return tx.query(add, [tenantId, groupId, userIds, by]);
  }

  /** @returns false when they were not in it */
  async remove(tx: Tx, tenantId: string, groupId: string, userId: string): Promise<boolean> {
    return (await tx.query(remove, [tenantId, groupId, userId])).length > 0;
  }
}
