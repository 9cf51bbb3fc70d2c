import { Injectable } from '@nestjs/common';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { ChatChanges } from '../chat-changes.js';
import { RoomMembersRepository } from './room-members.repository.js';
import { RoomsRepository } from './rooms.repository.js';

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

const lock = workspace.statement<{ id: string }>(
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
      this.changes.changed(tx, ctx, id, modSeq + 1);
    }
    return ids.length;
  }
}
