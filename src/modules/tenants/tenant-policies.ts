import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RequestContext, TenantRole } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { directory } from '../../platform/database/statement.js';
import type { ErasurePolicy } from './membership-status.repository.js';
import { type Audience, defaultPolicy, TenantPolicy } from './tenants.schema.js';
import { growingTo } from '../../platform/memory/cache-size.js';

const MAX_CACHED = 10_000;
/** A change takes effect in every process after this time. */
const CACHE_MS = 3_000;
const DAY_MS = 86_400_000;

const erasures = directory.statement<ErasurePolicy>(
  'tenants.erasures',
  `SELECT tenant_id, erase_after_days AS days FROM tenant_policies WHERE erase_after_days IS NOT NULL ORDER BY tenant_id`,
);

/** The policies of workspaces, for the modules that enforce them. Cached for three seconds. */
@Injectable()
export class TenantPolicies {
  private readonly cache = new LRUCache<string, TenantPolicy>({ ...growingTo(MAX_CACHED), ttl: CACHE_MS });

  constructor(private readonly db: Db) {}

  async readPolicy(tenantId: string): Promise<TenantPolicy> {
    const cached = this.cache.get(tenantId);
    if (cached) return cached;
    const policy =
      (await rowsOf(this.db, TenantPolicy).one({ tenant_id: tenantId })) ?? defaultPolicy(tenantId);
    this.cache.set(tenantId, policy);
    return policy;
  }

  /** Workspaces that erase the personal data of former members, with the days after the end of the membership. */
  async erasures(): Promise<ErasurePolicy[]> {
    return this.db.query(erasures, []);
  }

  /** Drops the cached policy in this process. */
  forget(tenantId: string): void {
    this.cache.delete(tenantId);
  }

  /** Whether a member with this role may create share links. */
  async mayShareLinks({ tenantId, role }: RequestContext): Promise<boolean> {
    return includes((await this.readPolicy(tenantId)).link_shares, role);
  }

  /** Whether a member with this role may invite guests. */
  async mayInviteGuests(tenantId: string, role: TenantRole | null): Promise<boolean> {
    return includes((await this.readPolicy(tenantId)).guest_invites, role);
  }

  /** Whether the workspace accepts access tokens of this issuer; `local`: of this service. */
  async accepts(tenantId: string, issuer: string): Promise<boolean> {
    const { allowed_issuers } = await this.readPolicy(tenantId);
    return allowed_issuers === null || allowed_issuers.includes(issuer);
  }

  /**
   * The deadline by which a member must enable a second factor.
   * @param memberSince start of the membership @returns null: no second factor is required
   */
  async secondFactorDeadline(tenantId: string, memberSince: Date): Promise<Date | null> {
    const { second_factor_required, second_factor_since, second_factor_grace_days } =
      await this.readPolicy(tenantId);
    if (!second_factor_required) return null;
    const start = Math.max(second_factor_since?.getTime() ?? 0, memberSince.getTime());
    return new Date(start + second_factor_grace_days * DAY_MS);
  }
}

const includes = (audience: Audience, role: TenantRole | null): boolean =>
  audience === 'members' || (audience === 'admins' && (role === 'admin' || role === 'owner'));
