import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { jsonBytes, textBytes } from '../../platform/bounded-pages/page-bytes.js';
import { TimedItem, WorkspaceItem } from '../../platform/database/schema/item.entity.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

/** SQL: about the bytes of the JSON of a `message`. */
export const MESSAGE_BYTES = `1024 + ${textBytes('message.body')} + 40 * cardinality(message.mentions)
  + ${jsonBytes('message.attachments', 'message.reactions', 'message.event')}`;

export const ROOM_TYPES = ['direct', 'group', 'channel'] as const;
export type RoomType = (typeof ROOM_TYPES)[number];

/** The order is that of the rights, ascending. */
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
@Index('chat_rooms_direct', ['tenant_id', 'direct_key'], { unique: true })
@Index('chat_rooms_open', ['tenant_id', 'active_at', 'id'], {
  where: `visibility = 'tenant'::text AND deleted_at IS NULL`,
})
@Index('chat_rooms_deleted', ['deleted_at'], { where: 'deleted_at IS NOT NULL' })
export class ChatRoom extends TimedItem {
  @Column('enum', { enum: ROOM_TYPES, enumName: 'chat_room_type' }) type!: RoomType;
  @Column('text', { nullable: true }) name!: string | null;
  @Column('text') topic!: string;
  @Column('text') visibility!: (typeof VISIBILITIES)[number];
  @Column('text', { nullable: true }) direct_key!: string | null;
  @Column('uuid') created_by!: string;
  @Column('int') members_count!: number;
  @Column('bigint') last_seq!: string;
  @Column('bigint') mod_seq!: string;
  @Column('timestamptz') active_at!: Date;
  @Column('timestamptz', { nullable: true }) archived_at!: Date | null;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
}

@Entity('chat_members')
@Index('chat_members_user', ['tenant_id', 'user_id'])
@ForeignKey('ChatRoom', ['tenant_id', 'room_id'], ['tenant_id', 'id'])
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class ChatMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') room_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('enum', { enum: CHAT_ROLES, enumName: 'chat_role' }) role!: ChatRole;
  @Column('bigint') last_read_seq!: string;
  @Column('text') notify!: (typeof NOTIFY)[number];
  @Column('timestamptz', { nullable: true }) muted_until!: Date | null;
  @Column('timestamptz') joined_at!: Date;
}

@Entity('chat_messages')
@Index('chat_messages_id', ['tenant_id', 'room_id', 'id'], { unique: true })
@Index('chat_messages_client', ['tenant_id', 'room_id', 'sender_id', 'client_msg_id'], { unique: true })
@Index('chat_messages_changes', ['tenant_id', 'room_id', 'mod_seq'], { unique: true })
@Index('chat_messages_mentions', ['tenant_id', 'room_id', 'seq'], { where: `mentions <> '{}'::uuid[]` })
@ForeignKey('ChatRoom', ['tenant_id', 'room_id'], ['tenant_id', 'id'])
export class ChatMessage {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') room_id!: string;
  @PrimaryColumn('bigint') seq!: string;
  @Column('uuid') id!: string;
  @Column('bigint') mod_seq!: string;
  /** A member, or a guest where `guestName` is set. */
  @Column('uuid') sender_id!: string;
  /** Null means that the sender is a member. */
  @Column('text', { nullable: true }) guest_name!: string | null;
  @Column('jsonb', { nullable: true }) via!: MessageOrigin | null;
  @Column('uuid', { nullable: true }) client_msg_id!: string | null;
  @Column('bytea', { nullable: true }) fingerprint!: Buffer | null;
  @Column('text') kind!: 'text' | 'system' | 'call';
  @Column('text') body!: string;
  @Column('text') format!: (typeof FORMATS)[number];
  /** Null for the kind `text`. */
  @Column('jsonb', { nullable: true }) event!: object | null;
  @Column('uuid', { nullable: true }) reply_to!: string | null;
  @Column('bigint', { nullable: true }) reply_to_seq!: string | null;
  @Column('uuid', { array: true }) mentions!: string[];
  @Column('jsonb') attachments!: object[];
  @Column('jsonb') reactions!: object[];
  @Column('tsvector') tsv!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) edited_at!: Date | null;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
  @Column('uuid', { nullable: true }) deleted_by!: string | null;
}

@Entity('chat_attachments')
@Index('chat_attachments_message', ['tenant_id', 'room_id', 'message_seq'], { where: 'room_id IS NOT NULL' })
@Index('chat_attachments_unsent', ['tenant_id', 'owner_id'], { where: 'room_id IS NULL' })
@Index('chat_attachments_due', ['created_at'], { where: 'room_id IS NULL' })
@ForeignKey('ChatMessage', ['tenant_id', 'room_id', 'message_seq'], ['tenant_id', 'room_id', 'seq'], {
  onDelete: 'CASCADE',
})
export class ChatAttachment extends WorkspaceItem {
  @Column('uuid') owner_id!: string;
  @Column('uuid') blob_id!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text') content_type!: string;
  @Column('bytea') sha256!: Buffer;
  /** Blob of a small JPEG of an image. Null means that the file has none. */
  @Column('uuid', { nullable: true }) thumbnail_id!: string | null;
  @Column('bigint', { nullable: true }) thumbnail_size!: string | null;
  @Column('bytea', { nullable: true }) thumbnail_sha256!: Buffer | null;
  @Column('uuid', { nullable: true }) room_id!: string | null;
  @Column('bigint', { nullable: true }) message_seq!: string | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('chat_notified')
@ForeignKey('ChatRoom', ['tenant_id', 'room_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class ChatNotified {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') room_id!: string;
  @Column('bigint') seq!: string;
}

export const chatSchema: SchemaPart = {
  owner: 'chat',
  publishes: ['chat_room_refs', 'chat_room_roles'],
  entities: { workspace: [ChatRoom, ChatMember, ChatMessage, ChatAttachment, ChatNotified] },
  growth: {
    trimmedBy: { 'chat.sweep-attachments': ['chat_attachments'] },
    cleanedBy: { 'chat.purge-rooms': ['chat_members', 'chat_messages', 'chat_rooms'] },
    content: ['chat_notified'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Chat1796800000001: '0001-chat',
    ChatGuestSenders1796900000011: '0002-guest-senders',
    ChatCalls1796900000012: '0003-call-messages',
    ChatNotified1796900000022: '0003-notified-messages',
    ChatMemberAge1797200000016: '0004-member-age',
    ChatThumbnails1797200000017: '0005-thumbnails',
    ChatMessagesOfPrograms1798812000002: '0006-messages-of-programs',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'chat-views', 'release-0.1.0'),
};
