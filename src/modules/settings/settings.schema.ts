import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

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

@Entity('signatures')
@Index('signatures_list', ['tenant_id', 'user_id', 'id'])
@Index('signatures_default', ['tenant_id', 'user_id'], { unique: true, where: 'is_default' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class Signature {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') user_id!: string;
  @Column('text') name!: string;
  /** Cleaned by the HTML policy before it was stored. */
  @Column('text') html!: string;
  @Column('text') text!: string;
  /** The user wrote the text; otherwise it follows the HTML. */
  @Column('boolean') own_text!: boolean;
  @Column('boolean') is_default!: boolean;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

export const settingsSchema: SchemaPart = {
  owner: 'settings',
  publishes: ['member_locales', 'user_profiles'],
  entities: { workspace: [UserProfile, Signature, Preferences] },
  growth: { bounded: ['preferences', 'signatures', 'user_profiles'] },
  migrations: sqlMigrations(import.meta.url, {
    Settings1795700000003: '0001-settings',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'member-locales'),
};
