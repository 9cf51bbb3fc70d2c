import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { WorkspaceItem } from '../../../platform/database/schema/item.entity.js';
import type { ImportProblemResponse, ImportResponse } from './phone.dto.js';

const IMPORT_ACTIONS = ['created', 'updated', 'unchanged'] as const;
export type ImportAction = (typeof IMPORT_ACTIONS)[number];

/** Numbers of cards by outcome. */
export type ImportCounts = Pick<
  ImportResponse,
  'total' | 'created' | 'updated' | 'merged' | 'unchanged' | 'skipped' | 'failed'
>;

/** An import of cards from a device. */
@Entity('contact_imports')
@Index('contact_imports_user', ['tenant_id', 'user_id', 'id'])
@Index('contact_imports_created', ['created_at'])
@ForeignKey('Addressbook', ['tenant_id', 'addressbook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class ContactImport extends WorkspaceItem {
  @Column('uuid') addressbook_id!: string;
  @Column('uuid') user_id!: string;
  @Column('text') device_id!: string;
  @Column('jsonb') counts!: ImportCounts;
  @Column('jsonb') errors!: ImportProblemResponse[];
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) undone_at!: Date | null;
}

/** A contact that an import wrote or found unchanged. */
@Entity('contact_import_items')
@Index('contact_import_items_contact', ['tenant_id', 'contact_id'])
@Index('contact_import_items_photo', ['tenant_id', 'original_photo_id'], {
  where: 'original_photo_id IS NOT NULL',
})
@ForeignKey('ContactImport', ['tenant_id', 'import_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class ContactImportItem {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') import_id!: string;
  @PrimaryColumn('uuid') contact_id!: string;
  @Column('enum', { enum: IMPORT_ACTIONS, enumName: 'contact_import_action' }) action!: ImportAction;
  @Column('int') revision!: number;
  /** The SHA-256 of each card of the contact. */
  @Column('bytea') source_hash!: Buffer;
  /** Short hashes of the values of these cards; null if they are not known. */
  @Column('bytea', { nullable: true }) value_hashes!: Buffer | null;
  @Column('json', { nullable: true }) original!: object | null;
  /** The revision before an update. */
  @Column('int', { nullable: true }) original_revision!: number | null;
  /** The photo before an update. */
  @Column('uuid', { nullable: true }) original_photo_id!: string | null;
}
