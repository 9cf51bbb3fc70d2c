import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

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
