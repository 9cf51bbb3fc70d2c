import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { ChatAttachment, ChatMember, ChatMessage, ChatNotified, ChatRoom } from './chat.entity.js';

export const chatSchema: SchemaPart = {
  owner: 'chat',
  publishes: ['chat_room_refs', 'chat_room_roles'],
  entities: { workspace: [ChatRoom, ChatMember, ChatMessage, ChatAttachment, ChatNotified] },
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
