import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What a note's `links` holds: the way back to something made from it. */
export interface NoteLink {
  type: 'task';
  id: string;
  title: string;
  created_at: string;
}

@Entity('notes')
@Index('notes_purge_due', ['purgeAt'], { where: 'purge_at IS NOT NULL' })
export class Note {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('text') title!: string;
  @Column('int') revision!: number;
  @Column('int', { name: 'body_rev' }) bodyRev!: number;
  @Column('int', { name: 'content_bytes' }) contentBytes!: number;
  @Column('text', { array: true }) labels!: string[];
  @Column('jsonb') links!: NoteLink[];
  @Column('uuid', { name: 'member_ids', array: true }) memberIds!: string[];
  @Column('smallint', { name: 'member_roles', array: true }) memberRoles!: number[];
  @Column('smallint', { name: 'share_role', nullable: true }) shareRole!: number | null;
  @Column('timestamptz', { name: 'share_expires_at', nullable: true }) shareExpiresAt!: Date | null;
  @Column('timestamptz', { name: 'share_created_at', nullable: true }) shareCreatedAt!: Date | null;
  @Column('text', { name: 'share_token', nullable: true }) shareToken!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
  @Column('uuid', { name: 'updated_by' }) updatedBy!: string;
  @Column('text', { name: 'updated_device', nullable: true }) updatedDevice!: string | null;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  @Column('uuid', { name: 'deleted_by', nullable: true }) deletedBy!: string | null;
  @Column('timestamptz', { name: 'purge_at', nullable: true }) purgeAt!: Date | null;
}

@Entity('note_revisions')
export class NoteRevision {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
  @PrimaryColumn('int') revision!: number;
  @Column('int', { name: 'body_rev' }) bodyRev!: number;
  @Column('smallint') enc!: number;
  @Column('text', { nullable: true }) content!: string | null;
  @Column('text') title!: string;
  @Column('text', { array: true }) labels!: string[];
  @Column('uuid', { name: 'author_id' }) authorId!: string;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
  @Column('int') bytes!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('note_members')
@Index('note_members_feed', ['tenantId', 'userId', 'seq'], { unique: true })
@Index('note_members_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
@Index('note_members_placed', ['tenantId', 'userId', 'folderId'], { where: 'folder_id IS NOT NULL' })
export class NoteMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'note_id' }) noteId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('smallint', { nullable: true }) role!: number | null;
  @Column('uuid', { name: 'folder_id', nullable: true }) folderId!: string | null;
  @Column('bigint') seq!: string;
  @Column('timestamptz', { name: 'listed_at' }) listedAt!: Date;
  @Column('boolean') trashed!: boolean;
  @Column('timestamptz') since!: Date;
  @Column('smallint', { nullable: true }) gone!: number | null;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
}
