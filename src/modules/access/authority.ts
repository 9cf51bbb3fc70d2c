import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { PermissionSource } from '../../platform/context/permission-source.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import { AccessErrors } from './access.errors.js';
import { type AuthorityRow, AuthorityRepository } from './authority.repository.js';
import { ALL_PERMISSIONS, isPermission, type Permission } from './permissions.js';

const MAX_CACHED = 10_000;
const NONE: ReadonlySet<string> = new Set();

interface Remembered {
  version: string;
  permissions: ReadonlySet<string>;
}

/**
 * What people hold. A remembered set is believed only for the version it was read with, and the version is asked for
 * each time (ADR 22): a change made by any process counts from the next request on.
 */
@Injectable()
export class Authority extends PermissionSource {
  private readonly cache = new LRUCache<string, Remembered>({ max: MAX_CACHED });

  constructor(private readonly repository: AuthorityRepository) {
    super();
  }

  override async of(ctx: Pick<RequestContext, 'tenantId' | 'userId'>): Promise<ReadonlySet<string>> {
    const key = `${ctx.tenantId} ${ctx.userId}`;
    const known = this.cache.get(key);
    const row = await this.repository.authority(ctx.tenantId, ctx.userId, known?.version ?? null);
    if (!row) return NONE;
    if (known && row.permissions === null) return known.permissions;
    const permissions = setOf(row);
    this.cache.set(key, { version: row.version, permissions });
    return permissions;
  }

  /**
   * Begins a change of a workspace's groups: other such changes wait, so what is decided here stays true until the commit.
   * @returns what the caller holds now
   * @param needed what the change takes
   * @throws ApiError 403 `forbidden` when they have just lost that
   */
  async begin(tx: Tx, ctx: RequestContext, needed: Permission = 'rbac.manage'): Promise<ReadonlySet<string>> {
    await this.repository.lock(tx, ctx.tenantId);
    const held = await this.inTx(tx, ctx.tenantId, ctx.userId);
    if (!held.has(needed)) throw Errors.forbidden.with();
    return held;
  }

  /** What somebody holds, as this transaction sees it; `evenDeactivated`: what they would hold if they were active. */
  async inTx(
    tx: Tx,
    tenantId: string,
    userId: string,
    { evenDeactivated = false } = {},
  ): Promise<ReadonlySet<string>> {
    const row = await this.repository.authority(tenantId, userId, null, tx, evenDeactivated);
    return row ? setOf(row) : NONE;
  }
}

function setOf({ owner, permissions }: AuthorityRow): ReadonlySet<string> {
  return owner ? ALL_PERMISSIONS : new Set((permissions ?? []).filter(isPermission));
}

/** @throws ApiError 403 `cannot_grant_unheld` naming what is missing */
export function assertHolds(held: ReadonlySet<string>, permissions: Iterable<string>): void {
  const missing = [...permissions].filter((permission) => !held.has(permission));
  if (missing.length > 0) throw AccessErrors.cannotGrantUnheld.with({ body: { permissions: missing } });
}
