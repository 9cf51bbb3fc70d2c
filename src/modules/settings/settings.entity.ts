import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('user_profiles')
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class UserProfile {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') given_name!: string;
  @Column('text') family_name!: string;
  @Column('text') title!: string;
  @Column('text') phone!: string;
  @Column('text', { nullable: true }) timezone!: string | null;
  @Column('text', { nullable: true }) locale!: string | null;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('preferences')
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class Preferences {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') kind!: 'general' | 'notifications';
  @Column('jsonb') data!: Record<string, unknown>;
  @Column('int') rev!: number;
  @Column('timestamptz') updated_at!: Date;
}
