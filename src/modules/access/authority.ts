import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { PermissionSource } from '../../platform/context/permission.guard.js';
import type { TenantRole, MemberKey } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import { TenantPolicies } from '../tenants/index.js';
import { AccessErrors } from './access.errors.js';
import { type AuthorityRow, AuthorityRepository } from './authority.repository.js';
import { ALL_PERMISSIONS, isPermission, type Permission } from './permissions.js';
import { growingTo } from '../../platform/memory/cache-size.js';

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

  override async of(ctx: MemberKey): Promise<ReadonlySet<string>> {
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
