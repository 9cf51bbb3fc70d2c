import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('user_profiles')
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class UserProfile {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text', { name: 'given_name' }) givenName!: string;
  @Column('text', { name: 'family_name' }) familyName!: string;
  @Column('text') title!: string;
  @Column('text') phone!: string;
  @Column('text', { nullable: true }) timezone!: string | null;
  @Column('text', { nullable: true }) locale!: string | null;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('preferences')
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class Preferences {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text') kind!: 'general' | 'notifications';
  @Column('jsonb') data!: Record<string, unknown>;
  @Column('int') rev!: number;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
