import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('user_profiles')
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

@Entity('signatures')
@Index('signatures_list', ['tenantId', 'userId', 'id'])
@Index('signatures_default', ['tenantId', 'userId'], { unique: true, where: 'is_default' })
export class Signature {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('text') name!: string;
  @Column('text') html!: string;
  @Column('text') text!: string;
  @Column('boolean', { name: 'own_text' }) ownText!: boolean;
  @Column('boolean', { name: 'is_default' }) isDefault!: boolean;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('preferences')
export class Preferences {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text') kind!: 'general' | 'notifications';
  @Column('jsonb') data!: Record<string, unknown>;
  @Column('int') rev!: number;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
