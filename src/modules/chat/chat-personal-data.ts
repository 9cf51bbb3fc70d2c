import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const messages = workspace.statement<never>(
  'chat.personal_messages',
  personalRows(`SELECT message.id, message.room_id, message.kind, message.body, message.format, message.reply_to, message.attachments,
            message.created_at, message.edited_at
       FROM chat_messages message
      WHERE message.tenant_id = $1 AND message.sender_id = $2 AND message.kind <> 'system' AND message.deleted_at IS NULL
      ORDER BY message.room_id, message.seq`),
);

const rooms = workspace.statement<never>(
  'chat.personal_rooms',
  personalRows(`SELECT room.id, room.type, room.name, room.topic, member.role, member.notify, member.muted_until, member.joined_at
       FROM chat_members member JOIN chat_rooms room ON room.tenant_id = member.tenant_id AND room.id = member.room_id
      WHERE member.tenant_id = $1 AND member.user_id = $2 AND room.deleted_at IS NULL ORDER BY room.id`),
);

const files = workspace.statement<never>(
  'chat.personal_files',
  personalRows(`SELECT file.id, file.blob_id, file.name, file.size
       FROM chat_attachments file WHERE file.tenant_id = $1 AND file.owner_id = $2 ORDER BY file.id`),
);

/** Messages and files that a user sent, and the rooms of the user. */
@Injectable()
export class ChatPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'chat', rows: { 'messages.json': messages, 'rooms.json': rooms }, files });
  }
}
