import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { MemberKey, TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import { growingTo } from '../../platform/memory/cache-size.js';
import { type MemberRole, TenantPolicies } from '../tenants/index.js';
import { AccessErrors } from './access.dto.js';
import { ALL_PERMISSIONS, isPermission, type Permission } from './permissions.js';
import type { TenantRbac } from './access.schema.js';

export interface AuthorityRow {
  version: string;
  /** Null means that nothing changed since the known version. */
  permissions: string[] | null;
  owner: boolean | null;
  role: TenantRole;
}

// There is no row if the user is no active member of this workspace. Every member has the permissions of the members group.
const authority = workspace.statement<AuthorityRow>(
  'access.authority',
  `SELECT rbac.version::text AS version, member.role,
          CASE WHEN rbac.version::text IS DISTINCT FROM $3 THEN ARRAY(
            SELECT permission FROM rbac_grants WHERE tenant_id = $1 AND group_id IN (
              SELECT group_id FROM rbac_members WHERE tenant_id = $1 AND user_id = $2
              UNION ALL SELECT id FROM rbac_groups WHERE tenant_id = $1 AND key = 'members')) END AS permissions,
          CASE WHEN rbac.version::text IS DISTINCT FROM $3 THEN EXISTS (
            SELECT FROM rbac_groups owners
              JOIN rbac_members owner ON owner.tenant_id = $1 AND owner.group_id = owners.id AND owner.user_id = $2
             WHERE owners.tenant_id = $1 AND owners.key = 'owners') END AS owner
     FROM tenant_rbac rbac
     JOIN member_profiles member ON member.tenant_id = $1 AND member.user_id = $2 AND (member.status = 'active' OR $4)
    WHERE rbac.tenant_id = $1`,
);

const bump = workspace.statement<Pick<TenantRbac, 'tenant_id'>>(
  'access.bump',
  `UPDATE tenant_rbac SET version = version + 1 WHERE tenant_id = $1 RETURNING tenant_id`,
);

// Locks in a fixed order, so that concurrent account closures do not deadlock.
const bumpOfMember = workspace.statement<Pick<TenantRbac, 'tenant_id'>>(
  'access.bump_of_member',
  `WITH locked AS MATERIALIZED (
     SELECT tenant_id FROM tenant_rbac
      WHERE tenant_id IN (SELECT tenant_id FROM member_profiles WHERE user_id = $1) ORDER BY tenant_id FOR UPDATE)
   UPDATE tenant_rbac rbac SET version = rbac.version + 1 FROM locked WHERE rbac.tenant_id = locked.tenant_id
   RETURNING rbac.tenant_id`,
  { reach: 'account' },
);

const activeOwners = workspace.statement<{ tenant_id: string; owners: string[] }>(
  'access.active_owners',
  `SELECT wanted.tenant_id, ARRAY(
     SELECT member.user_id FROM rbac_groups owners
       JOIN rbac_members owner ON owner.tenant_id = owners.tenant_id AND owner.group_id = owners.id
       JOIN member_profiles member
         ON member.tenant_id = owner.tenant_id AND member.user_id = owner.user_id AND member.status = 'active'
      WHERE owners.tenant_id = wanted.tenant_id AND owners.key = 'owners') AS owners
     FROM unnest($1::uuid[]) AS wanted (tenant_id)`,
  { reach: 'cell' },
);

const createSystemGroups = workspace.statement<{ made: boolean }>(
  'access.found',
  `SELECT rbac_found($1) AS made`,
);

// The role of a member follows from the highest of their system groups: owner, admin or member.
const rolesByGroups = workspace.statement<{ user_id: string; role: TenantRole }>(
  'access.roles_by_groups',
  `SELECT wanted.user_id, CASE min(grp.rank) WHEN 1 THEN 'owner' WHEN 2 THEN 'admin' ELSE 'member' END AS role
     FROM unnest($2::uuid[]) AS wanted (user_id)
     LEFT JOIN rbac_members membership ON membership.tenant_id = $1 AND membership.user_id = wanted.user_id
     LEFT JOIN rbac_groups grp ON grp.tenant_id = $1 AND grp.id = membership.group_id AND grp.system
    GROUP BY wanted.user_id`,
);

// Moves members between the owners and admins groups according to their roles.
const applyRolesToGroups = workspace.statement<{ user_id: string }>(
  'access.follow_roles',
  `WITH given AS (SELECT * FROM unnest($2::uuid[], $3::text[]) AS input (user_id, role)),
   removed AS (
     DELETE FROM rbac_members membership USING given, rbac_groups grp
      WHERE membership.tenant_id = $1 AND membership.user_id = given.user_id
        AND grp.tenant_id = $1 AND grp.id = membership.group_id
        AND grp.key IN ('owners', 'admins') AND grp.key <> given.role || 's'
     RETURNING membership.group_id, membership.user_id),
   added AS (
     INSERT INTO rbac_members (tenant_id, group_id, user_id)
     SELECT $1, grp.id, given.user_id FROM given JOIN rbac_groups grp ON grp.tenant_id = $1 AND grp.key = given.role || 's'
      WHERE given.role <> 'member' ON CONFLICT DO NOTHING RETURNING group_id, user_id),
   counted AS (
     UPDATE rbac_groups grp SET members_count = members_count
            + (SELECT count(*) FROM added WHERE added.group_id = grp.id)
            - (SELECT count(*) FROM removed WHERE removed.group_id = grp.id)
      WHERE grp.tenant_id = $1 AND grp.key IN ('owners', 'admins')
        AND grp.id IN (SELECT group_id FROM added UNION SELECT group_id FROM removed))
   SELECT user_id FROM removed UNION SELECT user_id FROM added`,
);

/** SQL of permissions and roles in a workspace. */
@Injectable()
export class AuthorityRepository {
  constructor(private readonly db: Db) {}

  /** @param knownVersion of the cached permissions @returns null unless the user is an active member */
  async authority(
    tenantId: string,
    userId: string,
    knownVersion: string | null,
    reader: Reader = this.db,
    includeDeactivated = false,
  ): Promise<AuthorityRow | null> {
    return (await reader.query(authority, [tenantId, userId, knownVersion, includeDeactivated]))[0] ?? null;
  }

  /** Locks the groups of a workspace until the end of the transaction. */
  async lock(tx: Tx, tenantId: string): Promise<void> {
    await tx.query(bump, [tenantId]);
  }

  /** Locks the groups of all workspaces of a user. @returns the workspaces */
  async lockAllOf(tx: Tx, userId: string): Promise<string[]> {
    return (await tx.query(bumpOfMember, [userId])).map((row) => row.tenant_id);
  }

  /** Owners with an active membership, by workspace. Their accounts may be closed: see `Membership.activeOwners`. */
  async activeOwners(tx: Tx, tenantIds: string[]): Promise<Map<string, string[]>> {
    const rows = await this.db.byCell(
      tenantIds,
      (tenantId) => tenantId,
      (some) => tx.query(activeOwners, [some]),
      tx,
    );
    return new Map(rows.map((row) => [row.tenant_id, row.owners]));
  }

  /** Creates missing system groups. */
  async createSystemGroups(tx: Tx, tenantId: string): Promise<void> {
    await tx.query(createSystemGroups, [tenantId]);
  }

  /** The roles that the groups of these members give. */
  async rolesByGroups(tx: Tx, tenantId: string, userIds: string[]): Promise<MemberRole[]> {
    const rows = await tx.query(rolesByGroups, [tenantId, userIds]);
    return rows.map(({ user_id: userId, role }) => ({ userId, role }));
  }

  /** Sets the groups of these members from their roles. @returns members whose groups changed */
  async applyRolesToGroups(tx: Tx, tenantId: string, members: readonly MemberRole[]): Promise<string[]> {
    const values = [members.map(({ userId }) => userId), members.map(({ role }) => role)];
    return (await tx.query(applyRolesToGroups, [tenantId, ...values])).map((row) => row.user_id);
  }
}

const MAX_CACHED = 10_000;
const GUESTS: Permission = 'guests.invite';
const NONE: ReadonlySet<string> = new Set();

interface CachedPermissions {
  version: string;
  permissions: ReadonlySet<string>;
}

/**
 * Permissions of members. A cached set is valid only for the version it was read with, and each request reads the version
 * (ADR 22): a change in any process takes effect from the next request on.
 */
@Injectable()
export class Authority extends PermissionSource {
  private readonly cache = new LRUCache<string, CachedPermissions>(growingTo(MAX_CACHED));

  constructor(
    private readonly repository: AuthorityRepository,
    private readonly policies: TenantPolicies,
  ) {
    super();
  }

  override async permissionsOf(ctx: MemberKey): Promise<ReadonlySet<string>> {
    const key = `${ctx.tenantId} ${ctx.userId}`;
    const cached = this.cache.get(key);
    const row = await this.repository.authority(ctx.tenantId, ctx.userId, cached?.version ?? null);
    if (!row) return NONE;
    const isCurrent = cached !== undefined && row.permissions === null;
    const permissions = isCurrent ? cached.permissions : setOf(row);
    if (!isCurrent) this.cache.set(key, { version: row.version, permissions });
    return this.withinPolicy(ctx.tenantId, row.role, permissions);
  }

  /** The policy of the workspace may reserve the invitation of guests for administrators. */
  private async withinPolicy(
    tenantId: string,
    role: TenantRole,
    permissions: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> {
    if (!permissions.has(GUESTS) || (await this.policies.mayInviteGuests(tenantId, role))) return permissions;
    return new Set([...permissions].filter((permission) => permission !== GUESTS));
  }

  /**
   * Starts a change of the groups of a workspace. Other such changes wait until the commit, so decisions stay valid.
   * @returns the current permissions of the caller
   * @param needed permission that the change requires
   * @throws ApiError 403 `forbidden` when the caller lost it meanwhile
   */
  async begin(tx: Tx, ctx: MemberKey, needed: Permission = 'rbac.manage'): Promise<ReadonlySet<string>> {
    await this.repository.lock(tx, ctx.tenantId);
    const held = await this.inTx(tx, ctx.tenantId, ctx.userId);
    if (!held.has(needed)) throw Errors.forbidden.with();
    return held;
  }

  /** Permissions of a member within this transaction. @param includeDeactivated also of a deactivated member, as if active */
  async inTx(
    tx: Tx,
    tenantId: string,
    userId: string,
    { includeDeactivated = false } = {},
  ): Promise<ReadonlySet<string>> {
    const row = await this.repository.authority(tenantId, userId, null, tx, includeDeactivated);
    return row ? setOf(row) : NONE;
  }
}

function setOf({ owner, permissions }: AuthorityRow): ReadonlySet<string> {
  return owner ? ALL_PERMISSIONS : new Set((permissions ?? []).filter(isPermission));
}

/** @throws ApiError 403 `cannot_grant_unheld` naming the missing permissions */
export function assertHolds(held: ReadonlySet<string>, permissions: Iterable<string>): void {
  const missing = [...permissions].filter((permission) => !held.has(permission));
  if (missing.length > 0) throw AccessErrors.cannotGrantUnheld.with({ body: { permissions: missing } });
}
