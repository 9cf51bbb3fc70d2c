import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Index row of a note: its words, its readers, the beginning of its text. */
@Entity('note_search')
@ForeignKey('Note', ['tenantId', 'noteId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class NoteSearch {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}
