import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CARD_FIELDS } from '../../lib/contact-card/index.js';
import { CARD_KINDS, type CardKind } from '../../lib/vcard/index.js';
import { TimedItem, WorkspaceItem } from '../../platform/database/schema/item.entity.js';

export const BOOK_KINDS = ['personal', 'global', 'collected'] as const;
export type BookKind = (typeof BOOK_KINDS)[number];

export const SHARE_ROLES = ['reader', 'writer'] as const;
export type ShareRole = (typeof SHARE_ROLES)[number];

@Entity('addressbooks')
@Index('addressbooks_owner', ['tenant_id', 'owner_id', 'id'])
@Index('addressbooks_default', ['tenant_id', 'owner_id'], { unique: true, where: 'is_default' })
@Index('addressbooks_collected', ['tenant_id', 'owner_id'], {
  unique: true,
  where: `kind = 'collected'::addressbook_kind`,
})
export class Addressbook extends TimedItem {
  @Column('uuid', { nullable: true }) owner_id!: string | null;
  @Column('enum', { enum: BOOK_KINDS, enumName: 'addressbook_kind' }) kind!: BookKind;
  @Column('text') name!: string;
  @Column('text') description!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('text', { nullable: true }) default_country!: string | null;
  @Column('boolean') is_default!: boolean;
  @Column('text', { array: true }) locked_fields!: string[];
  @Column('int') contacts_count!: number;
  @Column('int') revision!: number;
}

@Entity('addressbook_shares')
@Index('addressbook_shares_user', ['tenant_id', 'user_id', 'addressbook_id'])
@ForeignKey('Addressbook', ['tenant_id', 'addressbook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class AddressbookShare {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') addressbook_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('enum', { enum: SHARE_ROLES, enumName: 'addressbook_share_role' }) role!: ShareRole;
  @Column('timestamptz') created_at!: Date;
}

/** Fields of a contact that users write: those of the card, and the photo. */
export const CONTACT_FIELDS = [...CARD_FIELDS, 'photo'] as const;
export type ContactField = (typeof CONTACT_FIELDS)[number];

export const CONTACT_SOURCES = ['user', 'import', 'phone_sync', 'directory', 'extracted'] as const;
export type ContactSource = (typeof CONTACT_SOURCES)[number];

@Entity('contacts')
@Index('contacts_feed', ['tenant_id', 'addressbook_id', 'seq'], { unique: true })
@Index('contacts_external_id', ['tenant_id', 'addressbook_id', 'external_id'], {
  unique: true,
  where: 'gone_at IS NULL',
})
@Index('contacts_uid', ['tenant_id', 'addressbook_id', 'uid'], { unique: true, where: 'gone_at IS NULL' })
@Index('contacts_by_name', ['tenant_id', 'addressbook_id', 'sort_key', 'id'], { where: 'gone_at IS NULL' })
@Index('contacts_member', ['tenant_id', 'linked_user_id'], {
  unique: true,
  where: 'linked_user_id IS NOT NULL AND gone_at IS NULL',
})
@Index('contacts_gone', ['gone_at'], { where: 'gone_at IS NOT NULL' })
@Index('contacts_gone_external_id', ['tenant_id', 'addressbook_id', 'external_id'], {
  where: 'gone_at IS NOT NULL',
})
@Index('contacts_photo', ['tenant_id', 'photo_id'], { where: 'photo_id IS NOT NULL' })
@ForeignKey('Addressbook', ['tenant_id', 'addressbook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('ContactPhoto', ['tenant_id', 'photo_id'], ['tenant_id', 'id'])
export class Contact extends TimedItem {
  @Column('uuid') addressbook_id!: string;
  @Column('text') external_id!: string;
  @Column('text') uid!: string;
  @Column('enum', { enum: CARD_KINDS, enumName: 'contact_kind' }) kind!: CardKind;
  @Column('text') sort_key!: string;
  @Column('json') card!: object;
  @Column('int') size!: number;
  @Column('text', { array: true }) words!: string[];
  @Column('bytea') content_hash!: Buffer;
  @Column('enum', { enum: CONTACT_SOURCES, enumName: 'contact_source' }) source!: ContactSource;
  @Column('uuid', { nullable: true }) linked_user_id!: string | null;
  @Column('uuid', { nullable: true }) photo_id!: string | null;
  @Column('jsonb') field_revisions!: Record<string, number>;
  @Column('int') revision!: number;
  @Column('bigint') seq!: string;
  @Column('timestamptz', { nullable: true }) gone_at!: Date | null;
}

/** The search index of an address book. */
@Entity('contact_words')
export class ContactWord {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') addressbook_id!: string;
  @PrimaryColumn('text') word!: string;
  @PrimaryColumn('uuid') contact_id!: string;
}

/** A merge of contacts that can be undone. */
@Entity('contact_merges')
@Index('contact_merges_created', ['created_at'])
@ForeignKey('Addressbook', ['tenant_id', 'addressbook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class ContactMerge extends WorkspaceItem {
  @Column('uuid') addressbook_id!: string;
  @Column('uuid') user_id!: string;
  @Column('uuid') contact_id!: string;
  @Column('int') revision!: number;
  @Column('jsonb') originals!: object[];
  @Column('uuid', { array: true }) photo_ids!: string[];
  @Column('timestamptz') created_at!: Date;
}

/** An extracted address that a user removed from the list. */
@Entity('suppressed_addresses')
export class SuppressedAddress {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') address_key!: string;
  @Column('timestamptz') created_at!: Date;
}

/** The photo of a contact. */
@Entity('contact_photos')
@Index('contact_photos_source', ['tenant_id', 'source_sha256'])
@Index('contact_photos_sha256', ['tenant_id', 'sha256'])
@Index('contact_photos_check', ['check_at'], { where: 'check_at IS NOT NULL' })
export class ContactPhoto extends WorkspaceItem {
  @Column('uuid') blob_id!: string;
  @Column('bytea') source_sha256!: Buffer;
  @Column('bytea') sha256!: Buffer;
  @Column('int') size!: number;
  @Column('int') width!: number;
  @Column('int') height!: number;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) check_at!: Date | null;
}

/** A sender of messages that a user received. */
@Entity('received_addresses')
@Index('received_addresses_seen', ['tenant_id', 'user_id', 'last_seen_at'])
export class ReceivedAddress {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') address_key!: string;
  @Column('text') address!: string;
  @Column('text') name!: string;
  @Column('int') count!: number;
  @Column('timestamptz') last_seen_at!: Date;
}

/** The part of the inbox whose senders are counted. */
@Entity('received_address_scans')
export class ReceivedAddressScan {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') mailbox!: string;
  @Column('bigint') newest!: string;
  @Column('timestamptz') scanned_at!: Date;
}
