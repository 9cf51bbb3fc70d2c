import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { ChatMember } from '../chat.schema.js';

interface ChangeRow {
  /** JSON; null where nothing changed. */
  message: string | null;
}

/** The caller's position in one room. */
export interface RoomPosition {
  id: string;
  mod_seq: number;
  last_seq: number;
  unread: number;
}

/** The members of a room and the number of its newest change, in one snapshot. */
export interface RoomMembership {
  mod_seq: number;
  members: string[];
}

/** A room with the number of its newest change. */
export interface RoomHead {
  tenant: string;
  room: string;
  modSeq: number;
}

interface HeadRow {
  tenant_id: string;
  room_id: string;
  /** Null means that the room is deleted. */
  mod_seq: number | null;
}

interface RecentMember extends Pick<ChatMember, 'tenant_id' | 'room_id' | 'user_id'> {
  mod_seq: number;
}

// Index: chat_messages_changes.
const changes = workspace.statement<ChangeRow>(
  'chat_fanout.changes',
  `SELECT changed.message FROM chat_rooms room
     LEFT JOIN LATERAL (
       SELECT view.message, view.mod_seq FROM chat_message_views view
        WHERE view.tenant_id = $1 AND view.room_id = $2 AND view.mod_seq > $3 ORDER BY view.mod_seq LIMIT $4) changed ON true
    WHERE room.tenant_id = $1 AND room.id = $2 AND room.deleted_at IS NULL
    ORDER BY changed.mod_seq`,
  { pipelined: true },
);

const members = workspace.statement<Pick<ChatMember, 'user_id'>>(
  'chat_fanout.members',
  `SELECT user_id FROM chat_members WHERE tenant_id = $1 AND room_id = $2`,
);

const membership = workspace.statement<RoomMembership>(
  'chat_fanout.membership',
  `SELECT room.mod_seq::float8 AS mod_seq, ARRAY(
            SELECT member.user_id FROM chat_members member
             WHERE member.tenant_id = $1 AND member.room_id = $2)::text[] AS members
     FROM chat_rooms room WHERE room.tenant_id = $1 AND room.id = $2 AND room.deleted_at IS NULL`,
);

const behind = workspace.statement<HeadRow>(
  'chat_fanout.behind',
  `SELECT known.tenant_id, known.room_id, room.mod_seq::float8 AS mod_seq
     FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS known (tenant_id, room_id, mod_seq)
     LEFT JOIN chat_rooms room
       ON room.tenant_id = known.tenant_id AND room.id = known.room_id AND room.deleted_at IS NULL
    WHERE room.id IS NULL OR room.mod_seq > known.mod_seq`,
  { reach: 'cell' },
);

// Index: chat_members_age.
const recentMembers = workspace.statement<RecentMember>(
  'chat_fanout.recent_members',
  `SELECT member.tenant_id, member.room_id, member.user_id, room.mod_seq::float8 AS mod_seq FROM chat_members member
     JOIN chat_rooms room ON room.tenant_id = member.tenant_id AND room.id = member.room_id AND room.deleted_at IS NULL
    WHERE member.joined_at > now() - make_interval(secs => $1)`,
  { reach: 'cell' },
);

const positions = workspace.statement<RoomPosition>(
  'chat_fanout.positions',
  `SELECT room.id, room.mod_seq::float8 AS mod_seq, room.last_seq::float8 AS last_seq,
          CASE WHEN member.last_read_seq < room.last_seq THEN chat_unread($1, $2, room.id, member.last_read_seq) ELSE 0 END AS unread
     FROM chat_members member
     JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = member.room_id AND room.deleted_at IS NULL
    WHERE member.tenant_id = $1 AND member.user_id = $2`,
);

/** SQL for the delivery of messages to sockets. */
@Injectable()
export class FanoutRepository {
  constructor(private readonly db: Db) {}

  /** JSON of messages that changed after `known`, in the order of their changes. @returns undefined for a deleted room */
  async changes(
    tenantId: string,
    roomId: string,
    known: number,
    limit: number,
  ): Promise<string[] | undefined> {
    const rows = await this.db.query(changes, [tenantId, roomId, known, limit]);
    return rows.length === 0 ? undefined : rows.flatMap(({ message }) => message ?? []);
  }

  async members(tenantId: string, roomId: string): Promise<string[]> {
    return (await this.db.query(members, [tenantId, roomId])).map((row) => row.user_id);
  }

  /** @returns undefined for a deleted room */
  async membership(tenantId: string, roomId: string): Promise<RoomMembership | undefined> {
    return (await this.db.query(membership, [tenantId, roomId]))[0];
  }

  /** The rooms among these that have newer changes or are deleted. @param known rooms of the current cell */
  async readBehind(known: readonly RoomHead[]): Promise<HeadRow[]> {
    return this.db.query(behind, [
      known.map(({ tenant }) => tenant),
      known.map(({ room }) => room),
      known.map(({ modSeq }) => modSeq),
    ]);
  }

  /** Members of all rooms of the current cell who joined within the last seconds. */
  async recentMembers(seconds: number): Promise<RecentMember[]> {
    return this.db.query(recentMembers, [seconds]);
  }

  /** The caller's position in each of their rooms. */
  async positions({ tenantId, userId }: RequestContext): Promise<RoomPosition[]> {
    return this.db.query(positions, [tenantId, userId]);
  }
}
