import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { WorkspaceItem } from '../../../platform/database/schema/item.entity.js';
import type { ImportProblemResponse, ImportResponse } from './phone.response.js';

const IMPORT_ACTIONS = ['created', 'updated', 'unchanged'] as const;
export type ImportAction = (typeof IMPORT_ACTIONS)[number];

/** Numbers of cards by outcome. */
export type ImportCounts = Pick<
  ImportResponse,
  'total' | 'created' | 'updated' | 'merged' | 'unchanged' | 'skipped' | 'failed'
>;

/** An import of cards from a device. */
@Entity('contact_imports')
@Index('contact_imports_user', ['tenantId', 'userId', 'id'])
@Index('contact_imports_created', ['createdAt'])
@ForeignKey('Addressbook', ['tenantId', 'addressbookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class ContactImport extends WorkspaceItem {
  @Column('uuid', { name: 'addressbook_id' }) addressbookId!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('text', { name: 'device_id' }) deviceId!: string;
  @Column('jsonb') counts!: ImportCounts;
  @Column('jsonb') errors!: ImportProblemResponse[];
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'undone_at', nullable: true }) undoneAt!: Date | null;
}

/** A contact that an import wrote or found unchanged. */
@Entity('contact_import_items')
@Index('contact_import_items_contact', ['tenantId', 'contactId'])
@Index('contact_import_items_photo', ['tenantId', 'originalPhotoId'], {
  where: 'original_photo_id IS NOT NULL',
})
@ForeignKey('ContactImport', ['tenantId', 'importId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class ContactImportItem {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'import_id' }) importId!: string;
  @PrimaryColumn('uuid', { name: 'contact_id' }) contactId!: string;
  @Column('enum', { enum: IMPORT_ACTIONS, enumName: 'contact_import_action' }) action!: ImportAction;
  @Column('int') revision!: number;
  @Column('bytea', { name: 'source_hash' }) sourceHash!: Buffer;
  @Column('json', { nullable: true }) original!: object | null;
  @Column('int', { name: 'original_revision', nullable: true }) originalRevision!: number | null;
  @Column('uuid', { name: 'original_photo_id', nullable: true }) originalPhotoId!: string | null;
}
