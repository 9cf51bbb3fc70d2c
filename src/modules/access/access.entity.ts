import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('tenant_rbac')
export class TenantRbac {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @Column('bigint') version!: string;
}

@Entity('rbac_groups')
@Index('rbac_groups_tenant_id_key_key', ['tenantId', 'key'], { unique: true })
@Index('rbac_groups_tenant_id_folded_key', ['tenantId', 'folded'], { unique: true })
@Index('rbac_groups_list', ['tenantId', 'rank', 'folded'])
export class RbacGroup {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') key!: string;
  @Column('text') name!: string;
  @Column('text') folded!: string;
  @Column('text') description!: string;
  @Column('boolean') system!: boolean;
  @Column('int') rank!: number;
  @Column('int', { name: 'members_count' }) membersCount!: number;
  @Column('int') rev!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('rbac_members')
@Index('rbac_members_user', ['tenantId', 'userId'])
@ForeignKey('RbacGroup', ['tenantId', 'groupId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class RbacMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'group_id' }) groupId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid', { name: 'added_by', nullable: true }) addedBy!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('rbac_grants')
@ForeignKey('RbacGroup', ['tenantId', 'groupId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class RbacGrant {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'group_id' }) groupId!: string;
  @PrimaryColumn('text') permission!: string;
  @Column('uuid', { name: 'granted_by', nullable: true }) grantedBy!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
