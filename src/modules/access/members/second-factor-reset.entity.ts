import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('second_factor_resets')
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class SecondFactorReset {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid', { name: 'requested_by' }) requestedBy!: string;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
