import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { ChatAttachment, ChatMember, ChatMessage, ChatNotified, ChatRoom } from './chat.entity.js';

export const chatSchema: SchemaPart = {
  owner: 'chat',
  publishes: ['chat_room_refs', 'chat_room_roles'],
  entities: { workspace: [ChatRoom, ChatMember, ChatMessage, ChatAttachment, ChatNotified] },
  migrations: [
    sqlMigration('Chat1796800000001', new URL('migrations/0001-chat.sql', import.meta.url)),
    sqlMigration(
      'ChatGuestSenders1796900000011',
      new URL('migrations/0002-guest-senders.sql', import.meta.url),
    ),
    sqlMigration('ChatCalls1796900000012', new URL('migrations/0003-call-messages.sql', import.meta.url)),
    sqlMigration(
      'ChatNotified1796900000022',
      new URL('migrations/0003-notified-messages.sql', import.meta.url),
    ),
    sqlMigration('ChatMemberAge1797200000016', new URL('migrations/0004-member-age.sql', import.meta.url)),
    sqlMigration('ChatThumbnails1797200000017', new URL('migrations/0005-thumbnails.sql', import.meta.url)),
  ],
  sql: sqlFiles('workspace', new URL('sql/', import.meta.url), 'chat-values', 'chat-views', 'chat-messages'),
};
