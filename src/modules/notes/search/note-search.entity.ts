import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Index row of a note: its words, its readers, the beginning of its text. */
@Entity('note_search')
@ForeignKey('Note', ['tenant_id', 'note_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class NoteSearch {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') note_id!: string;
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}
