import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** The members to whom a policy limits a feature. The feature may also require a permission. */
export const AUDIENCES = ['members', 'admins', 'nobody'] as const;
export type Audience = (typeof AUDIENCES)[number];

@Entity('tenant_policies')
@ForeignKey('Tenant', ['tenantId'], ['id'])
export class TenantPolicy {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @Column('boolean', { name: 'second_factor_required' }) secondFactorRequired!: boolean;
  @Column('int', { name: 'second_factor_grace_days' }) secondFactorGraceDays!: number;
  @Column('timestamptz', { name: 'second_factor_since', nullable: true }) secondFactorSince!: Date | null;
  @Column('int', { name: 'session_days', nullable: true }) sessionDays!: number | null;
  @Column('int', { name: 'password_min_length', nullable: true }) passwordMinLength!: number | null;
  @Column('text', { name: 'link_shares' }) linkShares!: Audience;
  @Column('text', { name: 'guest_invites' }) guestInvites!: Audience;
  @Column('text', { name: 'allowed_issuers', array: true, nullable: true }) allowedIssuers!: string[] | null;
  @Column('boolean', { name: 'domain_join' }) domainJoin!: boolean;
  @Column('int', { name: 'erase_after_days', nullable: true }) eraseAfterDays!: number | null;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

/** The policy of a workspace that has set none. */
export function defaultPolicy(tenantId: string): TenantPolicy {
  return {
    tenantId,
    secondFactorRequired: false,
    secondFactorGraceDays: 7,
    secondFactorSince: null,
    sessionDays: null,
    passwordMinLength: null,
    linkShares: 'members',
    guestInvites: 'members',
    allowedIssuers: null,
    domainJoin: false,
    eraseAfterDays: null,
    updatedAt: new Date(0),
  };
}
