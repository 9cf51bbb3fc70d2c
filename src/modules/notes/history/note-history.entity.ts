import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Bodies of old revisions of a note, compressed together. */
@Entity('note_revision_packs')
@ForeignKey('Note', ['tenantId', 'noteId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class NoteRevisionPack {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
  @PrimaryColumn('int', { name: 'first_revision' }) firstRevision!: number;
  @Column('int', { array: true }) revisions!: number[];
  @Column('bytea') bodies!: Buffer;
}

/** A note with bodies to pack. */
@Entity('note_history_due')
@ForeignKey('Note', ['tenantId', 'noteId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class DueNoteHistory {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
}
