import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';

export interface AuthorityRow {
  version: string;
  /** Null: unchanged since the version the caller knows. */
  permissions: string[] | null;
  owner: boolean | null;
}

// No row: no active member of this workspace. The members group is everybody's.
const authority = workspace.statement<AuthorityRow>(
  'access.authority',
  `SELECT r.version::text AS version,
          CASE WHEN r.version::text IS DISTINCT FROM $3 THEN ARRAY(
            SELECT g.permission FROM rbac_grants g
             WHERE g.tenant_id = $1 AND g.group_id IN (
               SELECT m.group_id FROM rbac_members m WHERE m.tenant_id = $1 AND m.user_id = $2
               UNION ALL SELECT e.id FROM rbac_groups e WHERE e.tenant_id = $1 AND e.key = 'members')) END AS permissions,
          CASE WHEN r.version::text IS DISTINCT FROM $3 THEN EXISTS (
            SELECT FROM rbac_groups o JOIN rbac_members m ON m.tenant_id = $1 AND m.group_id = o.id AND m.user_id = $2
             WHERE o.tenant_id = $1 AND o.key = 'owners') END AS owner
     FROM tenant_rbac r JOIN tenant_members t ON t.tenant_id = $1 AND t.user_id = $2 AND (t.status = 'active' OR $4)
    WHERE r.tenant_id = $1`,
);

const bump = workspace.statement<{ tenant_id: string }>(
  'access.bump',
  `UPDATE tenant_rbac SET version = version + 1 WHERE tenant_id = $1 RETURNING tenant_id`,
);

// In one order, whoever asks: two who close accounts at once wait for each other instead of deadlocking.
const bumpOfMember = workspace.statement<{ tenant_id: string }>(
  'access.bump_of_member',
  `WITH locked AS MATERIALIZED (
     SELECT r.tenant_id FROM tenant_rbac r
      WHERE r.tenant_id IN (SELECT tenant_id FROM tenant_members WHERE user_id = $1) ORDER BY r.tenant_id FOR UPDATE)
   UPDATE tenant_rbac r SET version = r.version + 1 FROM locked WHERE r.tenant_id = locked.tenant_id
   RETURNING r.tenant_id`,
);

const activeOwners = workspace.statement<{ tenant_id: string; owners: string[] }>(
  'access.active_owners',
  `SELECT t.id AS tenant_id, ARRAY(
     SELECT m.user_id FROM rbac_groups g JOIN rbac_members m ON m.tenant_id = g.tenant_id AND m.group_id = g.id
       JOIN tenant_members a ON a.tenant_id = m.tenant_id AND a.user_id = m.user_id AND a.status = 'active'
      WHERE g.tenant_id = t.id AND g.key = 'owners') AS owners
     FROM unnest($1::uuid[]) AS t (id)`,
);

const found = workspace.statement<{ made: boolean }>('access.found', `SELECT rbac_found($1) AS made`);

// The highest of the groups, as the rest of the service knows people: owner, admin or member.
const projectRoles = workspace.statement<{ user_id: string }>(
  'access.project_roles',
  `UPDATE tenant_members t SET role = w.role
     FROM (SELECT u.id, CASE min(g.rank) WHEN 1 THEN 'owner' WHEN 2 THEN 'admin' ELSE 'member' END AS role
             FROM unnest($2::uuid[]) AS u (id)
             LEFT JOIN rbac_members m ON m.tenant_id = $1 AND m.user_id = u.id
             LEFT JOIN rbac_groups g ON g.tenant_id = $1 AND g.id = m.group_id AND g.system
            GROUP BY u.id) w
    WHERE t.tenant_id = $1 AND t.user_id = w.id AND t.role <> w.role RETURNING t.user_id`,
);

// Those who are in another of the two groups than their role says.
const followRoles = workspace.statement<{ user_id: string }>(
  'access.follow_roles',
  `WITH given AS (SELECT * FROM unnest($2::uuid[], $3::text[]) AS g (user_id, role)),
   gone AS (
     DELETE FROM rbac_members m USING given w, rbac_groups g
      WHERE m.tenant_id = $1 AND m.user_id = w.user_id AND g.tenant_id = $1 AND g.id = m.group_id
        AND g.key IN ('owners', 'admins') AND g.key <> w.role || 's' RETURNING m.group_id, m.user_id),
   come AS (
     INSERT INTO rbac_members (tenant_id, group_id, user_id)
     SELECT $1, g.id, w.user_id FROM given w JOIN rbac_groups g ON g.tenant_id = $1 AND g.key = w.role || 's'
      WHERE w.role <> 'member' ON CONFLICT DO NOTHING RETURNING group_id, user_id),
   counted AS (
     UPDATE rbac_groups g SET members_count = members_count
            + (SELECT count(*) FROM come WHERE come.group_id = g.id) - (SELECT count(*) FROM gone WHERE gone.group_id = g.id)
      WHERE g.tenant_id = $1 AND g.key IN ('owners', 'admins')
        AND g.id IN (SELECT group_id FROM come UNION SELECT group_id FROM gone))
   SELECT user_id FROM gone UNION SELECT user_id FROM come`,
);

/** SQL on who holds what in a workspace. */
@Injectable()
export class AuthorityRepository {
  constructor(private readonly db: Db) {}

  /** @param known version the caller remembers; @returns null for who is no active member */
  async authority(
    tenantId: string,
    userId: string,
    known: string | null,
    reader: Reader = this.db,
    evenDeactivated = false,
  ): Promise<AuthorityRow | null> {
    return (await reader.query(authority, [tenantId, userId, known, evenDeactivated]))[0] ?? null;
  }

  /** Makes every other change of this workspace's groups wait for the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<void> {
    await tx.query(bump, [tenantId]);
  }

  /** The same for all workspaces of a person. @returns them */
  async lockAllOf(tx: Tx, userId: string): Promise<string[]> {
    return (await tx.query(bumpOfMember, [userId])).map((row) => row.tenant_id);
  }

  /** Active owners by workspace. */
  async activeOwners(tx: Tx, tenantIds: string[]): Promise<Map<string, string[]>> {
    const rows = await tx.query(activeOwners, [tenantIds]);
    return new Map(rows.map((row) => [row.tenant_id, row.owners]));
  }

  /** Makes the system groups unless they exist. */
  async found(tx: Tx, tenantId: string): Promise<void> {
    await tx.query(found, [tenantId]);
  }

  /** Brings the roles of these people in line with their groups. @returns whose has changed */
  async projectRoles(tx: Tx, tenantId: string, userIds: string[]): Promise<string[]> {
    return (await tx.query(projectRoles, [tenantId, userIds])).map((row) => row.user_id);
  }

  /** Brings the groups of these people in line with their roles. @returns whose have changed */
  async followRoles(
    tx: Tx,
    tenantId: string,
    members: readonly { userId: string; role: string }[],
  ): Promise<string[]> {
    const values = [members.map(({ userId }) => userId), members.map(({ role }) => role)];
    return (await tx.query(followRoles, [tenantId, ...values])).map((row) => row.user_id);
  }
}
