import { Column, Entity, Index } from 'typeorm';
import { OwnedItem } from '../../platform/sync/owner-feed.js';

@Entity('note_folders')
@Index('note_folders_tenant_id_owner_id_seq_key', ['tenantId', 'ownerId', 'seq'], { unique: true })
@Index('note_folders_children', ['tenantId', 'ownerId', 'parentId'], { where: 'gone_at IS NULL' })
@Index('note_folders_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
export class NoteFolder extends OwnedItem {
  @Column('uuid', { name: 'parent_id', nullable: true }) parentId!: string | null;
  @Column('text') name!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('double precision') position!: number;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
}
