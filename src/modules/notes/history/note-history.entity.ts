import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Bodies of old revisions of a note, compressed together. */
@Entity('note_revision_packs')
@ForeignKey('Note', ['tenant_id', 'note_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class NoteRevisionPack {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') note_id!: string;
  @PrimaryColumn('int') first_revision!: number;
  @Column('int', { array: true }) revisions!: number[];
  @Column('bytea') bodies!: Buffer;
}

/** A note with bodies to pack. */
@Entity('note_history_due')
@ForeignKey('Note', ['tenant_id', 'note_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class DueNoteHistory {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') note_id!: string;
}
