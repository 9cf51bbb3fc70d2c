import { Injectable } from '@nestjs/common';
import { errorCode } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { RbacGroup, type RbacGrant } from '../access.schema.js';
import type { GroupResponse } from '../access.dto.js';
import { GROUPS } from './groups.dto.js';

export interface GroupRow extends Omit<GroupResponse, 'permissions_count'> {
  folded: string;
  rank: number;
  /** Empty for the owners group, which has all permissions. */
  permissions: string[];
}

type NewGroup = Pick<GroupRow, 'id' | 'key' | 'name' | 'folded' | 'description' | 'permissions'>;

const GROUP = `grp.id, grp.key, grp.name, grp.folded, grp.description, grp.system, grp.rank, grp.rev, grp.created_at, grp.updated_at,
    CASE WHEN grp.rank = 3 THEN (SELECT count(*)::int FROM member_profiles WHERE tenant_id = $1 AND status = 'active')
         ELSE grp.members_count END AS members_count,
    ARRAY(SELECT permission FROM rbac_grants WHERE tenant_id = $1 AND group_id = grp.id ORDER BY 1) AS permissions`;

const list = workspace.statement<GroupRow>(
  'access.list_groups',
  `SELECT ${GROUP} FROM rbac_groups grp WHERE grp.tenant_id = $1 AND (grp.rank, grp.folded) > ($2, $3)
    ORDER BY grp.rank, grp.folded LIMIT $4`,
);

const read = workspace.statement<GroupRow>(
  'access.read_group',
  `SELECT ${GROUP} FROM rbac_groups grp WHERE grp.tenant_id = $1 AND grp.id = $2`,
);

// No row: the limit is reached.
const create = workspace.statement<Pick<RbacGroup, 'id'>>(
  'access.create_group',
  `WITH made AS (
     INSERT INTO rbac_groups (tenant_id, id, key, name, folded, description)
     SELECT $1, $2, $3, $4, $5, $6
      WHERE (SELECT count(*) FROM (SELECT FROM rbac_groups WHERE tenant_id = $1 LIMIT $7) existing) < $7 RETURNING id),
   granted AS (
     INSERT INTO rbac_grants (tenant_id, group_id, permission, granted_by)
     SELECT $1, made.id, permission, $9 FROM made CROSS JOIN unnest($8::text[]) AS wanted (permission))
   SELECT id FROM made`,
);

const grant = workspace.statement<Pick<RbacGrant, 'permission'>>(
  'access.grant',
  `WITH given AS (
     INSERT INTO rbac_grants (tenant_id, group_id, permission, granted_by)
     SELECT $1, $2, permission, $4 FROM unnest($3::text[]) AS wanted (permission) ON CONFLICT DO NOTHING RETURNING permission),
   touched AS (
     UPDATE rbac_groups SET rev = rev + 1, updated_at = now()
      WHERE tenant_id = $1 AND id = $2 AND EXISTS (SELECT FROM given))
   SELECT permission FROM given`,
);

const revoke = workspace.statement<Pick<RbacGrant, 'permission'>>(
  'access.revoke',
  `WITH taken AS (
     DELETE FROM rbac_grants WHERE tenant_id = $1 AND group_id = $2 AND permission = $3 RETURNING permission),
   touched AS (
     UPDATE rbac_groups SET rev = rev + 1, updated_at = now()
      WHERE tenant_id = $1 AND id = $2 AND EXISTS (SELECT FROM taken))
   SELECT permission FROM taken`,
);

/** SQL of groups and their permissions. */
@Injectable()
export class GroupsRepository {
  constructor(private readonly db: Db) {}

  /** System groups first, then the others by name. */
  async list(
    tenantId: string,
    after: readonly [rank: number, folded: string] | undefined,
    limit: number,
  ): Promise<GroupRow[]> {
    return this.db.query(list, [tenantId, ...(after ?? [0, '']), limit]);
  }

  /** @throws ApiError 404 */
  async readExisting(reader: Reader, tenantId: string, id: string): Promise<GroupRow> {
    const [group] = await reader.query(read, [tenantId, id]);
    if (!group) throw GROUPS.notFound.with();
    return group;
  }

  async keyTaken(tx: Tx, tenantId: string, key: string): Promise<boolean> {
    return (await rowsOf(tx, RbacGroup).one({ tenant_id: tenantId, key })) !== null;
  }

  async create(
    tx: Tx,
    tenantId: string,
    by: string | null,
    group: NewGroup,
  ): Promise<'ok' | 'already_exists' | 'too_many'> {
    const { id, key, name, folded, description, permissions } = group;
    const values = [tenantId, id, key, name, folded, description, QUOTAS.workspace.groups, permissions, by];
    const inserted = await nullIfTaken(tx.query(create, values));
    if (inserted === null) return 'already_exists';
    return inserted.length === 0 ? 'too_many' : 'ok';
  }

  /** @returns false when the name is taken */
  async update(
    tx: Tx,
    tenantId: string,
    id: string,
    values: Pick<RbacGroup, 'name' | 'folded' | 'description'>,
  ): Promise<boolean> {
    const revised = { ...values, rev: () => 'rev + 1', updated_at: () => 'now()' };
    return (await nullIfTaken(rowsOf(tx, RbacGroup).update({ tenant_id: tenantId, id }, revised))) !== null;
  }

  async delete(tx: Tx, tenantId: string, id: string): Promise<void> {
    await rowsOf(tx, RbacGroup).delete({ tenant_id: tenantId, id });
  }

  /** @returns the newly granted permissions */
  async grant(tx: Tx, tenantId: string, id: string, by: string, permissions: string[]): Promise<string[]> {
    return (await tx.query(grant, [tenantId, id, permissions, by])).map((row) => row.permission);
  }

  /** @returns false when the group did not have it */
  async revoke(tx: Tx, tenantId: string, id: string, permission: string): Promise<boolean> {
    return (await tx.query(revoke, [tenantId, id, permission])).length > 0;
  }
}

/** Returns null when the name or key is taken. The transaction is then aborted: the caller must throw. */
async function nullIfTaken<Row>(query: Promise<Row[]>): Promise<Row[] | null> {
  try {
    return await query;
  } catch (error) {
    if (errorCode(error) === '23505') return null;
    throw error;
  }
}
