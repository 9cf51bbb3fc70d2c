import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('second_factor_resets')
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class SecondFactorReset {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('uuid') requested_by!: string;
  @Column('timestamptz') expires_at!: Date;
}
