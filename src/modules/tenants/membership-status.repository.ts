import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TenantMember } from './tenants.schema.js';

export type MemberStatus = 'active' | 'deactivated';

/** A membership whose erasure the command line may schedule. */
export interface EndedMembership extends Pick<
  TenantMember,
  'tenant_id' | 'created_at' | 'deactivated_at' | 'erased_at'
> {
  status: MemberStatus;
}

/** The days after the end of a membership after which a workspace erases the data of the user. */
export interface ErasurePolicy {
  tenant_id: string;
  days: number;
}

/** Former members of a workspace. */
export interface EndedMembers {
  tenant_id: string;
  user_ids: string[];
}

const setMemberStatus = workspace.statement<Pick<TenantMember, 'tenant_id'>>(
  'tenants.set_member_status',
  `UPDATE tenant_members
      SET status = $3, ended_separately = ($3 = 'deactivated'),
          deactivated_at = CASE WHEN $3 = 'deactivated' THEN coalesce(deactivated_at, now()) END,
          changed_at = CASE WHEN status <> $3 THEN now() ELSE changed_at END
    WHERE tenant_id = $1 AND user_id = $2 AND ($3 <> 'active' OR erased_at IS NULL) RETURNING tenant_id`,
);

const endAll = workspace.statement<Pick<TenantMember, 'tenant_id'>>(
  'tenants.end_memberships',
  `UPDATE tenant_members SET status = 'deactivated', ended_separately = false, deactivated_at = now(), changed_at = now()
    WHERE user_id = $1 AND status = 'active' RETURNING tenant_id`,
  { reach: 'account' },
);

// Sorted by the lock order of changes of several workspaces.
const endedWithAccount = workspace.statement<Pick<TenantMember, 'tenant_id'>>(
  'tenants.ended_with_account',
  `SELECT tenant_id FROM tenant_members
    WHERE user_id = $1 AND status = 'deactivated' AND NOT ended_separately AND erased_at IS NULL ORDER BY tenant_id`,
  { reach: 'account' },
);

const endedMembers = workspace.statement<EndedMembers>(
  'tenants.ended_members',
  `SELECT member.tenant_id, array_agg(member.user_id) AS user_ids
     FROM unnest($1::uuid[], $2::int[]) AS policy (tenant_id, days)
     JOIN tenant_members member ON member.tenant_id = policy.tenant_id
    WHERE member.status = 'deactivated' AND member.erased_at IS NULL AND NOT member.is_service
      AND member.deactivated_at <= now() - make_interval(days => policy.days)
    GROUP BY member.tenant_id`,
  { reach: 'cell' },
);

const endedMemberships = workspace.statement<EndedMembership>(
  'tenants.ended_memberships',
  `SELECT tenant_id, status, created_at, deactivated_at, erased_at FROM tenant_members WHERE user_id = $1 ORDER BY tenant_id`,
  { reach: 'account' },
);

const beginErasure = workspace.statement<Pick<TenantMember, 'email'>>(
  'tenants.begin_erasure',
  `UPDATE tenant_members SET erased_at = coalesce(erased_at, now())
    WHERE tenant_id = $1 AND user_id = $2 AND status = 'deactivated' RETURNING email`,
);

// Restarts the membership like a new one, with the grace time of the policy for a second factor.
const restoreErased = workspace.statement<Pick<TenantMember, 'user_id'>>(
  'tenants.restore_erased_members',
  `UPDATE tenant_members
      SET status = 'active', role = 'member', created_at = now(), ended_separately = false, deactivated_at = NULL, erased_at = NULL
    WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[]) AND erased_at IS NOT NULL RETURNING user_id`,
);

const hasUnerased = workspace.statement<Pick<TenantMember, 'user_id'>>(
  'tenants.has_unerased_membership',
  `SELECT user_id FROM tenant_members WHERE user_id = $1 AND erased_at IS NULL LIMIT 1`,
  { reach: 'account' },
);

/** SQL of the end of memberships: their status, and the erasure of their data. */
@Injectable()
export class MembershipStatusRepository {
  constructor(private readonly db: Db) {}

  /** @returns false without a membership, and for the activation of an erased one */
  async set(tx: Tx, userId: string, tenantId: string, status: MemberStatus): Promise<boolean> {
    return (await tx.query(setMemberStatus, [tenantId, userId, status])).length > 0;
  }

  /** @returns the workspaces of the ended memberships */
  async endAll(tx: Tx, userId: string): Promise<string[]> {
    return (await tx.query(endAll, [userId])).map((row) => row.tenant_id);
  }

  /** @returns null for a user who has no membership, or an erased one */
  async status(tx: Tx, tenantId: string, userId: string): Promise<MemberStatus | null> {
    const member = await rowsOf(tx, TenantMember).one({ tenant_id: tenantId, user_id: userId });
    return member?.erased_at === null ? member.status : null;
  }

  /** Restarts erased memberships as new ones. @returns their users */
  async restoreErased(tx: Tx, tenantId: string, userIds: string[]): Promise<string[]> {
    return (await tx.query(restoreErased, [tenantId, userIds])).map((row) => row.user_id);
  }

  async endedWithAccount(tx: Tx, userId: string): Promise<string[]> {
    return (await tx.query(endedWithAccount, [userId])).map((row) => row.tenant_id);
  }

  async isErased(tx: Tx, tenantId: string, userId: string): Promise<boolean> {
    const member = await rowsOf(tx, TenantMember).one({ tenant_id: tenantId, user_id: userId });
    return member !== null && member.erased_at !== null;
  }

  async endedMembers(policies: readonly ErasurePolicy[]): Promise<EndedMembers[]> {
    const values = [policies.map((policy) => policy.tenant_id), policies.map(({ days }) => days)];
    return this.db.query(endedMembers, values);
  }

  async memberships(userId: string, reader: Reader = this.db): Promise<EndedMembership[]> {
    return reader.query(endedMemberships, [userId]);
  }

  async beginErasure(tx: Tx, tenantId: string, userId: string): Promise<string | null> {
    return (await tx.query(beginErasure, [tenantId, userId]))[0]?.email ?? null;
  }

  async hasUnerased(tx: Tx, userId: string): Promise<boolean> {
    return (await tx.query(hasUnerased, [userId])).length > 0;
  }
}
