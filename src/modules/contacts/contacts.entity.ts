import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem, WorkspaceItem } from '../../platform/database/schema/item.entity.js';
import { CARD_FIELDS } from '../../lib/contact-card/index.js';
import { CARD_KINDS, type CardKind } from '../../lib/vcard/index.js';

export const BOOK_KINDS = ['personal', 'global', 'collected'] as const;
export type BookKind = (typeof BOOK_KINDS)[number];

export const SHARE_ROLES = ['reader', 'writer'] as const;
export type ShareRole = (typeof SHARE_ROLES)[number];

@Entity('addressbooks')
@Index('addressbooks_owner', ['tenantId', 'ownerId', 'id'])
@Index('addressbooks_default', ['tenantId', 'ownerId'], { unique: true, where: 'is_default' })
@Index('addressbooks_collected', ['tenantId', 'ownerId'], {
  unique: true,
  where: `kind = 'collected'::addressbook_kind`,
})
export class Addressbook extends TimedItem {
  @Column('uuid', { name: 'owner_id', nullable: true }) ownerId!: string | null;
  @Column('enum', { enum: BOOK_KINDS, enumName: 'addressbook_kind' }) kind!: BookKind;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('text', { name: 'default_country', nullable: true }) defaultCountry!: string | null;
  @Column('boolean', { name: 'is_default' }) isDefault!: boolean;
  @Column('text', { name: 'locked_fields', array: true }) lockedFields!: string[];
  @Column('int', { name: 'contacts_count' }) contactsCount!: number;
  @Column('int') revision!: number;
}

@Entity('addressbook_shares')
@Index('addressbook_shares_user', ['tenantId', 'userId', 'addressbookId'])
@ForeignKey('Addressbook', ['tenantId', 'addressbookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class AddressbookShare {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'addressbook_id' }) addressbookId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('enum', { enum: SHARE_ROLES, enumName: 'addressbook_share_role' }) role!: ShareRole;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** Fields of a contact that users write: those of the card, and the photo. */
export const CONTACT_FIELDS = [...CARD_FIELDS, 'photo'] as const;
export type ContactField = (typeof CONTACT_FIELDS)[number];

export const CONTACT_SOURCES = ['user', 'import', 'phone_sync', 'directory', 'extracted'] as const;
export type ContactSource = (typeof CONTACT_SOURCES)[number];

@Entity('contacts')
@Index('contacts_feed', ['tenantId', 'addressbookId', 'seq'], { unique: true })
@Index('contacts_external_id', ['tenantId', 'addressbookId', 'externalId'], {
  unique: true,
  where: 'gone_at IS NULL',
})
@Index('contacts_uid', ['tenantId', 'addressbookId', 'uid'], { unique: true, where: 'gone_at IS NULL' })
@Index('contacts_by_name', ['tenantId', 'addressbookId', 'sortKey', 'id'], { where: 'gone_at IS NULL' })
@Index('contacts_member', ['tenantId', 'linkedUserId'], {
  unique: true,
  where: 'linked_user_id IS NOT NULL AND gone_at IS NULL',
})
@Index('contacts_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
@Index('contacts_gone_external_id', ['tenantId', 'addressbookId', 'externalId'], {
  where: 'gone_at IS NOT NULL',
})
@Index('contacts_photo', ['tenantId', 'photoId'], { where: 'photo_id IS NOT NULL' })
@ForeignKey('Addressbook', ['tenantId', 'addressbookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('ContactPhoto', ['tenantId', 'photoId'], ['tenantId', 'id'])
export class Contact extends TimedItem {
  @Column('uuid', { name: 'addressbook_id' }) addressbookId!: string;
  @Column('text', { name: 'external_id' }) externalId!: string;
  @Column('text') uid!: string;
  @Column('enum', { enum: CARD_KINDS, enumName: 'contact_kind' }) kind!: CardKind;
  @Column('text', { name: 'sort_key' }) sortKey!: string;
  @Column('json') card!: object;
  @Column('int') size!: number;
  @Column('text', { array: true }) words!: string[];
  @Column('bytea', { name: 'content_hash' }) contentHash!: Buffer;
  @Column('enum', { enum: CONTACT_SOURCES, enumName: 'contact_source' }) source!: ContactSource;
  @Column('uuid', { name: 'linked_user_id', nullable: true }) linkedUserId!: string | null;
  @Column('uuid', { name: 'photo_id', nullable: true }) photoId!: string | null;
  @Column('jsonb', { name: 'field_revisions' }) fieldRevisions!: Record<string, number>;
  @Column('int') revision!: number;
  @Column('bigint') seq!: string;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
}

/** The search index of an address book. */
@Entity('contact_words')
export class ContactWord {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'addressbook_id' }) addressbookId!: string;
  @PrimaryColumn('text') word!: string;
  @PrimaryColumn('uuid', { name: 'contact_id' }) contactId!: string;
}

/** A merge of contacts that can be undone. */
@Entity('contact_merges')
@Index('contact_merges_created', ['createdAt'])
@ForeignKey('Addressbook', ['tenantId', 'addressbookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class ContactMerge extends WorkspaceItem {
  @Column('uuid', { name: 'addressbook_id' }) addressbookId!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid', { name: 'contact_id' }) contactId!: string;
  @Column('int') revision!: number;
  @Column('jsonb') originals!: object[];
  @Column('uuid', { name: 'photo_ids', array: true }) photoIds!: string[];
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** An extracted address that a user removed from the list. */
@Entity('suppressed_addresses')
export class SuppressedAddress {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text', { name: 'address_key' }) addressKey!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

/** The photo of a contact. */
@Entity('contact_photos')
@Index('contact_photos_source', ['tenantId', 'sourceSha256'])
@Index('contact_photos_sha256', ['tenantId', 'sha256'])
@Index('contact_photos_check', ['checkAt'], { where: 'check_at IS NOT NULL' })
export class ContactPhoto extends WorkspaceItem {
  @Column('uuid', { name: 'blob_id' }) blobId!: string;
  @Column('bytea', { name: 'source_sha256' }) sourceSha256!: Buffer;
  @Column('bytea') sha256!: Buffer;
  @Column('int') size!: number;
  @Column('int') width!: number;
  @Column('int') height!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'check_at', nullable: true }) checkAt!: Date | null;
}
