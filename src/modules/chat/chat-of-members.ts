import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { ChatChanges } from './chat-changes.js';
import { RoomMembersRepository } from './rooms/room-members.repository.js';
import { RoomsRepository } from './rooms/rooms.repository.js';
import type { ChatRoom } from './chat.schema.js';

// Rooms whose only owner is the member. Direct rooms belong to their two users.
const OWNED = `FROM chat_rooms room
     JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2 AND mine.role = 'owner'
    WHERE room.tenant_id = $1 AND room.type <> 'direct' AND room.deleted_at IS NULL AND NOT EXISTS (
      SELECT FROM chat_members other
        JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = other.user_id AND profile.status = 'active'
       WHERE other.tenant_id = $1 AND other.room_id = room.id AND other.role = 'owner' AND other.user_id <> $2)`;

const count = workspace.statement<{ count: number }>(
  'chat_rooms.count_owned',
  `SELECT count(*)::int AS count ${OWNED}`,
);

const lock = workspace.statement<Pick<ChatRoom, 'id'>>(
  'chat_rooms.lock_owned',
  `SELECT room.id ${OWNED} ORDER BY room.id FOR NO KEY UPDATE OF room`,
);

/** The rooms that have no other active owner, for a transfer to another member, who joins them as owner. */
@Injectable()
export class RoomsOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly rooms: RoomsRepository,
    private readonly members: RoomMembersRepository,
    private readonly changes: ChatChanges,
  ) {
    super(contents, {
      kind: 'chat_rooms',
      order: 60,
      count: async (reader, { tenantId, userId }) =>
        (await reader.query(count, [tenantId, userId]))[0]?.count ?? 0,
    });
  }

  /** Rooms have no change feed. */
  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  /** The former owner stays a member. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    const ids = (await tx.query(lock, [ctx.tenantId, from])).map(({ id }) => id);
    for (const id of ids) {
      const added = await this.members.add(tx, ctx, id, [to], 'owner');
      const isPromoted = (await this.members.setRole(tx, ctx, id, [to], 'owner')).length > 0;
      await this.members.setRole(tx, ctx, id, [from], 'member');
      const type = added.length > 0 && !isPromoted ? 'members_added' : 'role_changed';
      const modSeq = await this.rooms.report(tx, ctx, id, { type, user_ids: [to], role: 'owner' });
      await this.rooms.report(tx, ctx, id, { type: 'role_changed', user_ids: [from], role: 'member' });
      this.changes.reportChange(tx, ctx, id, modSeq + 1);
    }
    return ids.length;
  }
}

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

const erasePrivateRooms = workspace.statement<never>(
  'chat.erase_private_rooms',
  `WITH private AS (
     SELECT room.id FROM chat_rooms room
       JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2
      WHERE room.tenant_id = $1 AND NOT EXISTS (
        SELECT FROM chat_members other WHERE other.tenant_id = $1 AND other.room_id = room.id AND other.user_id <> $2)),
   messages AS (
     DELETE FROM chat_messages USING private WHERE chat_messages.tenant_id = $1 AND chat_messages.room_id = private.id),
   members AS (
     DELETE FROM chat_members USING private WHERE chat_members.tenant_id = $1 AND chat_members.room_id = private.id)
   DELETE FROM chat_rooms USING private WHERE chat_rooms.tenant_id = $1 AND chat_rooms.id = private.id`,
);

const eraseUnsentFiles = workspace.statement<never>(
  'chat.erase_unsent_files',
  `DELETE FROM chat_attachments WHERE tenant_id = $1 AND owner_id = $2 AND room_id IS NULL`,
);

/** Messages and files that a user sent, and the rooms of the user. */
@Injectable()
export class ChatPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'chat',
      rows: { 'messages.json': messages, 'rooms.json': rooms },
      files,
      erasure: { rows: [erasePrivateRooms, eraseUnsentFiles] },
    });
  }
}
