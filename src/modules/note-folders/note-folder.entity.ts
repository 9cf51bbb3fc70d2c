import { Column, Entity, Index } from 'typeorm';
import { OwnedItem } from '../../platform/sync/owner-feed.js';

@Entity('note_folders')
@Index('note_folders_tenant_id_owner_id_seq_key', ['tenant_id', 'owner_id', 'seq'], { unique: true })
@Index('note_folders_children', ['tenant_id', 'owner_id', 'parent_id'], { where: 'gone_at IS NULL' })
@Index('note_folders_gone', ['gone_at'], { where: 'gone_at IS NOT NULL' })
export class NoteFolder extends OwnedItem {
  @Column('uuid', { nullable: true }) parent_id!: string | null;
  @Column('text') name!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('double precision') position!: number;
  @Column('text', { nullable: true }) device_id!: string | null;
}
