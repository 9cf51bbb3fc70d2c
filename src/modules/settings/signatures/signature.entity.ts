import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('signatures')
@Index('signatures_list', ['tenantId', 'userId', 'id'])
@Index('signatures_default', ['tenantId', 'userId'], { unique: true, where: 'is_default' })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class Signature {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('text') name!: string;
  /** Cleaned by the HTML policy before it was stored. */
  @Column('text') html!: string;
  @Column('text') text!: string;
  /** The user wrote the text; otherwise it follows the HTML. */
  @Column('boolean', { name: 'own_text' }) ownText!: boolean;
  @Column('boolean', { name: 'is_default' }) isDefault!: boolean;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
