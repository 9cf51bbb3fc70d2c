import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

@Entity('scim_tokens')
@Index('scim_tokens_hash', ['tenant_id', 'token_hash'], { unique: true })
export class ScimToken {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') name!: string;
  @Column('bytea') token_hash!: Buffer;
  @Column('uuid', { nullable: true }) created_by!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) rotated_at!: Date | null;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
}

@Entity('scim_users')
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
@Index('scim_users_external', ['tenant_id', 'external_id'], {
  unique: true,
  where: 'external_id IS NOT NULL',
})
export class ScimUser {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text', { nullable: true }) external_id!: string | null;
  @Column('jsonb') attributes!: Record<string, unknown>;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('scim_groups')
@ForeignKey('RbacGroup', ['tenant_id', 'group_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@Index('scim_groups_external', ['tenant_id', 'external_id'], { unique: true })
export class ScimGroup {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') group_id!: string;
  @Column('text') external_id!: string;
  @Column('timestamptz') updated_at!: Date;
}

export const scimSchema: SchemaPart = {
  owner: 'scim',
  entities: { workspace: [ScimToken, ScimUser, ScimGroup] },
  growth: { bounded: ['scim_groups', 'scim_tokens', 'scim_users'] },
  migrations: sqlMigrations(import.meta.url, { Scim1797900000001: '0001-scim' }),
};
