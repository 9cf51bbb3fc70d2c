import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('tenant_rbac')
export class TenantRbac {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('bigint') version!: string;
}

@Entity('rbac_groups')
@Index('rbac_groups_tenant_id_key_key', ['tenant_id', 'key'], { unique: true })
@Index('rbac_groups_tenant_id_folded_key', ['tenant_id', 'folded'], { unique: true })
@Index('rbac_groups_list', ['tenant_id', 'rank', 'folded'])
export class RbacGroup {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') key!: string;
  @Column('text') name!: string;
  @Column('text') folded!: string;
  @Column('text') description!: string;
  @Column('boolean') system!: boolean;
  @Column('int') rank!: number;
  @Column('int') members_count!: number;
  @Column('int') rev!: number;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('rbac_members')
@Index('rbac_members_user', ['tenant_id', 'user_id'])
@ForeignKey('RbacGroup', ['tenant_id', 'group_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class RbacMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') group_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('uuid', { nullable: true }) added_by!: string | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('rbac_grants')
@ForeignKey('RbacGroup', ['tenant_id', 'group_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class RbacGrant {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') group_id!: string;
  @PrimaryColumn('text') permission!: string;
  @Column('uuid', { nullable: true }) granted_by!: string | null;
  @Column('timestamptz') created_at!: Date;
}
