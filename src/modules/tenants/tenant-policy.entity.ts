import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** The members to whom a policy limits a feature. The feature may also require a permission. */
export const AUDIENCES = ['members', 'admins', 'nobody'] as const;
export type Audience = (typeof AUDIENCES)[number];

@Entity('tenant_policies')
@ForeignKey('Tenant', ['tenant_id'], ['id'])
export class TenantPolicy {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('boolean') second_factor_required!: boolean;
  @Column('int') second_factor_grace_days!: number;
  @Column('timestamptz', { nullable: true }) second_factor_since!: Date | null;
  @Column('int', { nullable: true }) session_days!: number | null;
  @Column('int', { nullable: true }) password_min_length!: number | null;
  @Column('text') link_shares!: Audience;
  @Column('text') guest_invites!: Audience;
  @Column('text', { array: true, nullable: true }) allowed_issuers!: string[] | null;
  @Column('boolean') domain_join!: boolean;
  @Column('int', { nullable: true }) erase_after_days!: number | null;
  @Column('timestamptz') updated_at!: Date;
}

/** The policy of a workspace that has set none. */
export function defaultPolicy(tenantId: string): TenantPolicy {
  return {
    tenant_id: tenantId,
    second_factor_required: false,
    second_factor_grace_days: 7,
    second_factor_since: null,
    session_days: null,
    password_min_length: null,
    link_shares: 'members',
    guest_invites: 'members',
    allowed_issuers: null,
    domain_join: false,
    erase_after_days: null,
    updated_at: new Date(0),
  };
}
