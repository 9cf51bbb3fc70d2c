import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

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
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @Column('text') title!: string;
  @Column('text', { array: true }) labels!: string[];
  /** The revision that holds the content: equal contents are stored once. */
  @Column('int', { name: 'body_rev' }) bodyRev!: number;
}

@Entity('notes')
@Index('notes_purge_due', ['purgeAt'], { where: 'purge_at IS NOT NULL' })
@Index('notes_by_title', ['tenantId', 'ownerId', 'title', 'id'])
@Index('notes_by_creation', ['tenantId', 'ownerId', 'createdAt', 'id'])
export class Note extends NoteVersion {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('int') revision!: number;
  @Column('int', { name: 'content_bytes' }) contentBytes!: number;
  @Column('jsonb') links!: NoteLink[];
  @Column('uuid', { name: 'member_ids', array: true }) memberIds!: string[];
  @Column({ ...ROLE, name: 'member_roles', array: true }) memberRoles!: NoteRole[];
  @Column({ ...ROLE, name: 'share_role', nullable: true }) shareRole!: NoteRole | null;
  @Column('timestamptz', { name: 'share_expires_at', nullable: true }) shareExpiresAt!: Date | null;
  @Column('timestamptz', { name: 'share_created_at', nullable: true }) shareCreatedAt!: Date | null;
  @Column('text', { name: 'share_token', nullable: true }) shareToken!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
  @Column('uuid', { name: 'updated_by' }) updatedBy!: string;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  @Column('uuid', { name: 'deleted_by', nullable: true }) deletedBy!: string | null;
  @Column('timestamptz', { name: 'purge_at', nullable: true }) purgeAt!: Date | null;
}

@Entity('note_revisions')
@ForeignKey('Note', ['tenantId', 'noteId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class NoteRevision extends NoteVersion {
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
  @PrimaryColumn('int') revision!: number;
  @Column('smallint') enc!: number;
  @Column('text', { nullable: true }) content!: string | null;
  @Column('uuid', { name: 'author_id' }) authorId!: string;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
  @Column('int') bytes!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('note_members')
@Index('note_members_feed', ['tenantId', 'userId', 'seq'], { unique: true })
@Index('note_members_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
@Index('note_members_shared', ['tenantId', 'userId'], {
  where: `role = ANY (ARRAY['viewer'::note_role, 'editor'::note_role])`,
})
@Index('note_members_placed', ['tenantId', 'userId', 'folderId'], { where: 'folder_id IS NOT NULL' })
export class NoteMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column({ ...ROLE, nullable: true }) role!: NoteRole | null;
  @Column('uuid', { name: 'folder_id', nullable: true }) folderId!: string | null;
  @Column('bigint') seq!: string;
  @Column('timestamptz', { name: 'listed_at' }) listedAt!: Date;
  @Column('boolean') trashed!: boolean;
  @Column('timestamptz') since!: Date;
  @Column({ type: 'enum', enum: ['unshared', 'purged'], enumName: 'note_removal', nullable: true })
  gone!: 'unshared' | 'purged' | null;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
}

/** Ids that no new note may use. */
@Entity('purged_notes')
export class PurgedNote {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
}
