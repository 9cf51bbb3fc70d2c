import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { ChatRole, ChatMember } from '../chat.schema.js';

export interface ListedMember {
  id: string;
  display_name: string;
  /** JSON. */
  member: string;
}

/** JSON of a row `member` with its `profile`. */
export const MEMBER = `json_build_object(
    'kind', 'user', 'id', member.user_id, 'display_name', profile.display_name, 'email', profile.email,
    'role', member.role, 'joined_at', rfc3339(member.joined_at))`;

const members = workspace.statement<ListedMember>(
  'chat_rooms.members',
  `SELECT member.user_id AS id, profile.display_name, ${MEMBER}::text AS member FROM chat_members member
     JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id
    WHERE member.tenant_id = $1 AND member.room_id = $2
      AND ($3::text IS NULL OR (profile.display_name, member.user_id) > ($3, $4::uuid))
      AND ($5::uuid[] IS NULL OR member.user_id = ANY ($5))
    ORDER BY profile.display_name, member.user_id LIMIT $6`,
);

const add = workspace.statement<Pick<ChatMember, 'user_id'>>(
  'chat_rooms.add_members',
  `WITH added AS (
     INSERT INTO chat_members (tenant_id, room_id, user_id, role, last_read_seq)
     SELECT room.tenant_id, room.id, new_member.user_id, $4::chat_role, room.last_seq
       FROM chat_rooms room CROSS JOIN unnest($3::uuid[]) AS new_member (user_id)
      WHERE room.tenant_id = $1 AND room.id = $2 ORDER BY new_member.user_id
     ON CONFLICT (tenant_id, room_id, user_id) DO NOTHING RETURNING user_id),
   counted AS (
     UPDATE chat_rooms SET members_count = members_count + (SELECT count(*) FROM added)
      WHERE tenant_id = $1 AND id = $2)
   SELECT user_id FROM added`,
);

const remove = workspace.statement<Pick<ChatMember, 'role'>>(
  'chat_rooms.remove_member',
  `WITH removed AS (
     DELETE FROM chat_members WHERE tenant_id = $1 AND room_id = $2 AND user_id = $3 RETURNING role),
   counted AS (
     UPDATE chat_rooms SET members_count = members_count - (SELECT count(*) FROM removed)
      WHERE tenant_id = $1 AND id = $2)
   SELECT role FROM removed`,
);

const setRole = workspace.statement<Pick<ChatMember, 'user_id'>>(
  'chat_rooms.set_role',
  `UPDATE chat_members SET role = $4 WHERE tenant_id = $1 AND room_id = $2 AND user_id = ANY ($3::uuid[]) AND role <> $4
   RETURNING user_id`,
);

const owners = workspace.statement<{ count: number }>(
  'chat_rooms.active_owners',
  `SELECT count(*)::int AS count FROM chat_members member
     JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id AND profile.status = 'active'
    WHERE member.tenant_id = $1 AND member.room_id = $2 AND member.role = 'owner'`,
);

const full = workspace.statement<Pick<ChatMember, 'user_id'>>(
  'chat_rooms.users_in_many_rooms',
  `SELECT user_id FROM chat_members WHERE tenant_id = $1 AND user_id = ANY ($2::uuid[])
    GROUP BY user_id HAVING count(*) >= $3`,
);

const lockUsers = workspace.statement<never>(
  'chat_rooms.lock_users',
  `SELECT pg_advisory_xact_lock(hashtextextended('chat rooms of ' || $1::uuid || ' ' || given.user_id, 0))
     FROM (SELECT user_id FROM unnest($2::uuid[]) AS given (user_id) ORDER BY user_id) given`,
);

/** SQL of the members of rooms. Lock the room before a change. */
@Injectable()
export class RoomMembersRepository {
  /** @param only these users; default: all */
  async list(
    reader: Reader,
    { tenantId }: RequestContext,
    roomId: string,
    { after, only, limit }: { after?: readonly [string, string]; only?: readonly string[]; limit: number },
  ): Promise<ListedMember[]> {
    const [name = null, id = null] = after ?? [];
    return reader.query(members, [tenantId, roomId, name, id, only ?? null, limit]);
  }

  /** @returns the members that were added */
  async add(
    tx: Tx,
    { tenantId }: RequestContext,
    roomId: string,
    userIds: readonly string[],
    newRole: ChatRole,
  ): Promise<string[]> {
    const added = await tx.query(add, [tenantId, roomId, userIds, newRole]);
    return added.map((row) => row.user_id);
  }

  /** @returns the role of the former member; null without one */
  async remove(
    tx: Tx,
    { tenantId }: RequestContext,
    roomId: string,
    userId: string,
  ): Promise<ChatRole | null> {
    return (await tx.query(remove, [tenantId, roomId, userId]))[0]?.role ?? null;
  }

  /** @returns members whose role changed */
  async setRole(
    tx: Tx,
    { tenantId }: RequestContext,
    roomId: string,
    userIds: readonly string[],
    newRole: ChatRole,
  ): Promise<string[]> {
    const changed = await tx.query(setRole, [tenantId, roomId, userIds, newRole]);
    return changed.map((row) => row.user_id);
  }

  /** Number of owners that are active members of the workspace. */
  async activeOwners(tx: Tx, { tenantId }: RequestContext, roomId: string): Promise<number> {
    return (await tx.query(owners, [tenantId, roomId]))[0]?.count ?? 0;
  }

  /** Serialises additions of the users to rooms, until the end of the transaction. */
  async lockUsers(tx: Tx, { tenantId }: RequestContext, userIds: readonly string[]): Promise<void> {
    await tx.query(lockUsers, [tenantId, userIds]);
  }

  /** The users among these that are in `max` rooms or more. */
  async inManyRooms(
    tx: Tx,
    { tenantId }: RequestContext,
    userIds: readonly string[],
    max: number,
  ): Promise<string[]> {
    return (await tx.query(full, [tenantId, userIds, max])).map((row) => row.user_id);
  }
}
