import { Column, Entity, Index } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
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

export const noteFoldersSchema: SchemaPart = {
  owner: 'note-folders',
  publishes: ['live_note_folders'],
  entities: { workspace: [NoteFolder] },
  growth: {
    cleanedBy: { 'forget-feed-removals': ['note_folders'] },
  },
  migrations: sqlMigrations(import.meta.url, {
    NoteFolders1795000000004: '0001-note-folders',
    NoteFolderDevices1796200000001: '0002-note-folder-devices',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'live-note-folders'),
};
