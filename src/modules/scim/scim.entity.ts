import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('scim_tokens')
@Index('scim_tokens_hash', ['tenantId', 'tokenHash'], { unique: true })
export class ScimToken {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') name!: string;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('uuid', { name: 'created_by', nullable: true }) createdBy!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'rotated_at', nullable: true }) rotatedAt!: Date | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
}

@Entity('scim_users')
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
@Index('scim_users_external', ['tenantId', 'externalId'], { unique: true, where: 'external_id IS NOT NULL' })
export class ScimUser {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text', { name: 'external_id', nullable: true }) externalId!: string | null;
  @Column('jsonb') attributes!: Record<string, unknown>;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('scim_groups')
@ForeignKey('RbacGroup', ['tenantId', 'groupId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@Index('scim_groups_external', ['tenantId', 'externalId'], { unique: true })
export class ScimGroup {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'group_id' }) groupId!: string;
  @Column('text', { name: 'external_id' }) externalId!: string;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
