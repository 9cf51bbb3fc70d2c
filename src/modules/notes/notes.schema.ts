import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

export const NOTE_ROLES = ['viewer', 'editor', 'owner'] as const;
export type NoteRole = (typeof NOTE_ROLES)[number];

const ROLE = { type: 'enum', enum: NOTE_ROLES, enumName: 'note_role' } as const;

/** A link to a task made from the note; the title is that of the task. */
export interface NoteLink {
  type: 'task';
  id: string;
  created_at: string;
}

/** Columns that a note and each of its revisions have. */
abstract class NoteVersion {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('text') title!: string;
  @Column('text', { array: true }) labels!: string[];
  /** The revision that holds the content: equal contents are stored once. */
  @Column('int') body_rev!: number;
}

@Entity('notes')
@Index('notes_purge_due', ['purge_at'], { where: 'purge_at IS NOT NULL' })
@Index('notes_by_title', ['tenant_id', 'owner_id', 'title', 'id'])
@Index('notes_by_creation', ['tenant_id', 'owner_id', 'created_at', 'id'])
export class Note extends NoteVersion {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') owner_id!: string;
  @Column('int') revision!: number;
  @Column('int') content_bytes!: number;
  @Column('jsonb') links!: NoteLink[];
  /** The owner first, then the invited members in the order of the list. */
  @Column('uuid', { array: true }) member_ids!: string[];
  @Column({ ...ROLE, array: true }) member_roles!: NoteRole[];
  @Column({ ...ROLE, nullable: true }) share_role!: NoteRole | null;
  @Column('timestamptz', { nullable: true }) share_expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) share_created_at!: Date | null;
  @Column('text', { nullable: true }) share_token!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  @Column('uuid') updated_by!: string;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
  @Column('uuid', { nullable: true }) deleted_by!: string | null;
  @Column('timestamptz', { nullable: true }) purge_at!: Date | null;
}

@Entity('note_revisions')
@ForeignKey('Note', ['tenant_id', 'note_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class NoteRevision extends NoteVersion {
  @PrimaryColumn('uuid') note_id!: string;
  @PrimaryColumn('int') revision!: number;
  @Column('smallint') enc!: number;
  @Column('text', { nullable: true }) content!: string | null;
  @Column('uuid') author_id!: string;
  @Column('text', { nullable: true }) device_id!: string | null;
  @Column('int') bytes!: number;
  @Column('timestamptz') created_at!: Date;
}

@Entity('note_members')
@Index('note_members_feed', ['tenant_id', 'user_id', 'seq'], { unique: true })
@Index('note_members_gone', ['gone_at'], { where: 'gone_at IS NOT NULL' })
@Index('note_members_shared', ['tenant_id', 'user_id'], {
  where: `role = ANY (ARRAY['viewer'::note_role, 'editor'::note_role])`,
})
@Index('note_members_placed', ['tenant_id', 'user_id', 'folder_id'], { where: 'folder_id IS NOT NULL' })
export class NoteMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') note_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column({ ...ROLE, nullable: true }) role!: NoteRole | null;
  @Column('uuid', { nullable: true }) folder_id!: string | null;
  @Column('bigint') seq!: string;
  @Column('timestamptz') listed_at!: Date;
  @Column('boolean') trashed!: boolean;
  @Column('timestamptz') since!: Date;
  @Column({ type: 'enum', enum: ['unshared', 'purged'], enumName: 'note_removal', nullable: true })
  gone!: 'unshared' | 'purged' | null;
  @Column('timestamptz', { nullable: true }) gone_at!: Date | null;
  @Column('text', { nullable: true }) device_id!: string | null;
}

/** Ids that no new note may use. Statements insert them for all purged notes at once, and the creation of a note checks them. */
@Entity('purged_notes')
export class PurgedNote {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') note_id!: string;
}

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

/**
 * Index row of a note: its words, its readers, the beginning of its text. The statements of `platform/search`, which name the table, read
 * and write it.
 */
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

export const notesSchema: SchemaPart = {
  owner: 'notes',
  entities: {
    workspace: [Note, NoteRevision, NoteRevisionPack, DueNoteHistory, NoteMember, PurgedNote, NoteSearch],
  },
  growth: {
    cleanedBy: {
      'forget-feed-removals': ['note_members'],
      'pack-note-history': ['note_history_due', 'note_revision_packs', 'note_revisions'],
      'purge-trashed-notes': ['notes'],
    },
    content: ['note_search'],
    permanent: { 'The id of a purged item must not be used again (32 bytes for each).': ['purged_notes'] },
  },
  migrations: sqlMigrations(import.meta.url, {
    Notes1795000000005: '0001-notes',
    NoteSearch1795000000101: '0101-note-search',
    NoteSearchInline1795000000102: '0102-note-search-inline',
    NoteRoles1796100000001: '0201-note-roles',
    NoteTitles1796100000002: '0202-note-titles',
    NoteHistory1796500000001: '0301-note-history',
    NotesByCreation1798023000001: '0401-notes-by-creation',
  }),
  sql: sqlFiles(
    'workspace',
    import.meta.url,
    'note-fields',
    'note-views',
    'note-store',
    'note-search',
    'release-0.1.0',
  ),
};
