import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

export const SHARE_ROLES = ['reader', 'writer'] as const;
export type ShareRole = (typeof SHARE_ROLES)[number];

@Entity('addressbooks')
@Index('addressbooks_owner', ['tenantId', 'ownerId', 'id'])
@Index('addressbooks_default', ['tenantId', 'ownerId'], { unique: true, where: 'is_default' })
export class Addressbook {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'owner_id', nullable: true }) ownerId!: string | null;
  @Column('enum', { enum: ['personal', 'global'], enumName: 'addressbook_kind' }) kind!:
    | 'personal'
    | 'global';
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('text', { name: 'default_country', nullable: true }) defaultCountry!: string | null;
  @Column('boolean', { name: 'is_default' }) isDefault!: boolean;
  @Column('text', { name: 'locked_fields', array: true }) lockedFields!: string[];
  @Column('int', { name: 'contacts_count' }) contactsCount!: number;
  @Column('int') revision!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('addressbook_shares')
@Index('addressbook_shares_user', ['tenantId', 'userId', 'addressbookId'])
export class AddressbookShare {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'addressbook_id' }) addressbookId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('enum', { enum: SHARE_ROLES, enumName: 'addressbook_share_role' }) role!: ShareRole;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
