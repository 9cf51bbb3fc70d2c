import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem, WorkspaceItem } from '../../platform/database/schema/item.entity.js';
import { jsonBytes, textBytes } from '../../platform/bounded-pages/page-bytes.js';

/** SQL: about the bytes of the JSON of a `message`. */
export const MESSAGE_BYTES = `1024 + ${textBytes('message.body')} + 40 * cardinality(message.mentions)
  + ${jsonBytes('message.attachments', 'message.reactions', 'message.event')}`;

export const ROOM_TYPES = ['direct', 'group', 'channel'] as const;
export type RoomType = (typeof ROOM_TYPES)[number];

/** In ascending order. */
export const CHAT_ROLES = ['member', 'moderator', 'owner'] as const;
export type ChatRole = (typeof CHAT_ROLES)[number];

export const VISIBILITIES = ['private', 'tenant'] as const;
export const NOTIFY = ['all', 'mentions', 'none'] as const;
export const FORMATS = ['plain', 'markdown'] as const;

/** The incoming webhook by which a program has posted a message. */
export interface MessageOrigin {
  id: string;
  name: string;
}

@Entity('chat_rooms')
@Index('chat_rooms_direct', ['tenantId', 'directKey'], { unique: true })
@Index('chat_rooms_open', ['tenantId', 'activeAt', 'id'], {
  where: `visibility = 'tenant'::text AND deleted_at IS NULL`,
})
@Index('chat_rooms_deleted', ['deletedAt'], { where: 'deleted_at IS NOT NULL' })
export class ChatRoom extends TimedItem {
  @Column('enum', { enum: ROOM_TYPES, enumName: 'chat_room_type' }) type!: RoomType;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('text') topic!: string;
  @Column('text') visibility!: (typeof VISIBILITIES)[number];
  @Column('text', { name: 'direct_key', nullable: true }) directKey!: string | null;
  @Column('uuid', { name: 'created_by' }) createdBy!: string;
  @Column('int', { name: 'members_count' }) membersCount!: number;
  @Column('bigint', { name: 'last_seq' }) lastSeq!: string;
  @Column('bigint', { name: 'mod_seq' }) modSeq!: string;
  @Column('timestamptz', { name: 'active_at' }) activeAt!: Date;
  @Column('timestamptz', { name: 'archived_at', nullable: true }) archivedAt!: Date | null;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
}

@Entity('chat_members')
@Index('chat_members_user', ['tenantId', 'userId'])
@ForeignKey('ChatRoom', ['tenantId', 'roomId'], ['tenantId', 'id'])
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class ChatMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'room_id' }) roomId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('enum', { enum: CHAT_ROLES, enumName: 'chat_role' }) role!: ChatRole;
  @Column('bigint', { name: 'last_read_seq' }) lastReadSeq!: string;
  @Column('text') notify!: (typeof NOTIFY)[number];
  @Column('timestamptz', { name: 'muted_until', nullable: true }) mutedUntil!: Date | null;
  @Column('timestamptz', { name: 'joined_at' }) joinedAt!: Date;
}

@Entity('chat_messages')
@Index('chat_messages_id', ['tenantId', 'roomId', 'id'], { unique: true })
@Index('chat_messages_client', ['tenantId', 'roomId', 'senderId', 'clientMsgId'], { unique: true })
@Index('chat_messages_changes', ['tenantId', 'roomId', 'modSeq'], { unique: true })
@Index('chat_messages_mentions', ['tenantId', 'roomId', 'seq'], { where: `mentions <> '{}'::uuid[]` })
@ForeignKey('ChatRoom', ['tenantId', 'roomId'], ['tenantId', 'id'])
export class ChatMessage {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'room_id' }) roomId!: string;
  @PrimaryColumn('bigint') seq!: string;
  @Column('uuid') id!: string;
  @Column('bigint', { name: 'mod_seq' }) modSeq!: string;
  /** A member, or a guest where `guestName` is set. */
  @Column('uuid', { name: 'sender_id' }) senderId!: string;
  @Column('text', { name: 'guest_name', nullable: true }) guestName!: string | null;
  @Column('jsonb', { nullable: true }) via!: MessageOrigin | null;
  @Column('uuid', { name: 'client_msg_id', nullable: true }) clientMsgId!: string | null;
  @Column('bytea', { nullable: true }) fingerprint!: Buffer | null;
  @Column('text') kind!: 'text' | 'system' | 'call';
  @Column('text') body!: string;
  @Column('text') format!: (typeof FORMATS)[number];
  @Column('jsonb', { nullable: true }) event!: object | null;
  @Column('uuid', { name: 'reply_to', nullable: true }) replyTo!: string | null;
  @Column('bigint', { name: 'reply_to_seq', nullable: true }) replyToSeq!: string | null;
  @Column('uuid', { array: true }) mentions!: string[];
  @Column('jsonb') attachments!: object[];
  @Column('jsonb') reactions!: object[];
  @Column('tsvector') tsv!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'edited_at', nullable: true }) editedAt!: Date | null;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  @Column('uuid', { name: 'deleted_by', nullable: true }) deletedBy!: string | null;
}

@Entity('chat_attachments')
@Index('chat_attachments_message', ['tenantId', 'roomId', 'messageSeq'], { where: 'room_id IS NOT NULL' })
@Index('chat_attachments_unsent', ['tenantId', 'ownerId'], { where: 'room_id IS NULL' })
@Index('chat_attachments_due', ['createdAt'], { where: 'room_id IS NULL' })
@ForeignKey('ChatMessage', ['tenantId', 'roomId', 'messageSeq'], ['tenantId', 'roomId', 'seq'], {
  onDelete: 'CASCADE',
})
export class ChatAttachment extends WorkspaceItem {
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('uuid', { name: 'blob_id' }) blobId!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text', { name: 'content_type' }) contentType!: string;
  @Column('bytea') sha256!: Buffer;
  /** Blob of a small JPEG of an image. Null: the file has none. */
  @Column('uuid', { name: 'thumbnail_id', nullable: true }) thumbnailId!: string | null;
  @Column('bigint', { name: 'thumbnail_size', nullable: true }) thumbnailSize!: string | null;
  @Column('bytea', { name: 'thumbnail_sha256', nullable: true }) thumbnailSha256!: Buffer | null;
  @Column('uuid', { name: 'room_id', nullable: true }) roomId!: string | null;
  @Column('bigint', { name: 'message_seq', nullable: true }) messageSeq!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('chat_notified')
@ForeignKey('ChatRoom', ['tenantId', 'roomId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class ChatNotified {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'room_id' }) roomId!: string;
  @Column('bigint') seq!: string;
}
