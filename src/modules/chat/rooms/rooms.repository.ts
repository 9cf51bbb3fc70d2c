import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { boundedPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { MemberKey, RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { MessageStore } from '../changes/message-store.js';
import { type ChatRole, ChatRoom, MESSAGE_BYTES, type RoomType } from '../chat.schema.js';
import { reportMessage } from '../model/message-rules.js';
import { MEMBER } from './room-members.repository.js';
import type { ListRooms } from './rooms.dto.js';

/** JSON of the live call of a room; null without one. */
type ActiveCallSource = (reader: Reader, ctx: RequestContext, roomId: string) => Promise<string | null>;

/** The live calls of rooms. The domain of calls registers their source, because it imports this one. */
@Injectable()
export class ActiveCalls {
  private source: ActiveCallSource = async () => null;

  register(source: ActiveCallSource): void {
    this.source = source;
  }

  async find(reader: Reader, ctx: RequestContext, roomId: string): Promise<string | null> {
    return this.source(reader, ctx, roomId);
  }
}

/** Messages that are counted as mentions. */
const MAX_MENTIONS = 100;

/** A room as one of its members sees it, without its content. */
export interface MemberRoom {
  id: string;
  type: RoomType;
  /** Null for a direct room. */
  name: string | null;
  archived: boolean;
  members_count: number;
  /** Number of the newest change. */
  mod_seq: number;
  /** Role of the caller. */
  role: ChatRole;
}

export interface ListedRoom {
  id: string;
  /** Time of the last activity, as text that PostgreSQL reads back exactly. */
  listed: string;
  fits: boolean;
  /** JSON; null for a room beyond the bytes of the page. */
  room: string | null;
}

/** The change of a room that a system message reports. */
export interface RoomEvent {
  type: 'members_added' | 'member_removed' | 'role_changed' | 'room_updated';
  user_ids?: string[];
  role?: ChatRole;
  changes?: Record<string, unknown>;
}

/** A step of a call that a message of the kind `call` reports. */
export interface CallEvent {
  type: 'call_started' | 'call_ended' | 'recording_ready';
  call_id: string;
  title: string;
  duration_ms?: number;
  participants?: number;
  recording_id?: string;
}

// $1 workspace, $2 caller. Index of the mentions: chat_messages_mentions.
const ROOM = `json_build_object(
    'id', room.id, 'type', room.type, 'name', room.name, 'topic', room.topic, 'visibility', room.visibility,
    'user', CASE WHEN other.user_id IS NOT NULL THEN
      json_build_object('id', other.user_id, 'display_name', other.display_name, 'email', other.email) END,
    'role', mine.role, 'members_count', room.members_count, 'last_message', last.message::json,
    'last_seq', room.last_seq, 'mod_seq', room.mod_seq, 'last_read_seq', coalesce(mine.last_read_seq, 0),
    'unread', CASE WHEN mine.last_read_seq < room.last_seq THEN chat_unread($1, $2, room.id, mine.last_read_seq) ELSE 0 END,
    'mentions', CASE WHEN mine.last_read_seq < room.last_seq THEN (
      SELECT count(*) FROM (
        SELECT FROM chat_messages message
         WHERE message.tenant_id = $1 AND message.room_id = room.id AND message.seq > mine.last_read_seq
           AND message.mentions <> '{}' AND message.mentions @> ARRAY[$2::uuid]
           AND message.sender_id <> $2 LIMIT ${MAX_MENTIONS}) mentioning) ELSE 0 END,
    'notify', mine.notify, 'muted_until', rfc3339(mine.muted_until), 'archived_at', rfc3339(room.archived_at),
    'created_at', rfc3339(room.created_at), 'updated_at', rfc3339(room.updated_at))`;

const JOINS = `
    LEFT JOIN LATERAL (
      SELECT profile.user_id, profile.display_name, profile.email
        FROM chat_members member
        JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id
       WHERE member.tenant_id = $1 AND member.room_id = room.id AND member.user_id <> $2) other ON room.type = 'direct'
    LEFT JOIN chat_message_views last
      ON last.tenant_id = $1 AND last.room_id = room.id AND last.seq = room.last_seq AND mine.user_id IS NOT NULL`;

const FILTERS = `room.deleted_at IS NULL AND ($3::chat_room_type IS NULL OR room.type = $3)
      AND (room.archived_at IS NOT NULL) = $4::boolean
      AND ($5::timestamptz IS NULL OR greatest(room.active_at, room.updated_at) > $5)
      AND ($6::timestamptz IS NULL OR (room.active_at, room.id) < ($6, $7::uuid))
    ORDER BY room.active_at DESC, room.id DESC LIMIT $8`;

/** A page of these rooms, each with its last message. Only rooms of the page are converted to JSON. */
const listOf = (name: string, rooms: string) =>
  workspace.statement<ListedRoom>(
    name,
    boundedPage({
      keys: `SELECT found.id, found.active_at, 2048 + octet_length(found.topic) + coalesce(${MESSAGE_BYTES}, 0) AS bytes
               FROM (${rooms}) found
               LEFT JOIN chat_messages message
                 ON message.tenant_id = $1 AND message.room_id = found.id AND message.seq = found.last_seq
              ORDER BY found.active_at DESC, found.id DESC`,
      order: 'sized.active_at DESC, sized.id DESC',
      limit: '$8',
      bytes: '$9',
      columns: 'sized.id, sized.active_at::text AS listed, sized.fits, shown.room',
      shown: {
        columns: `${ROOM}::text AS room`,
        from: `chat_rooms room
          LEFT JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2 ${JOINS}
         WHERE room.tenant_id = $1 AND room.id = sized.id`,
      },
    }),
  );
const COLUMNS = 'room.id, room.active_at, room.topic, room.last_seq';

// All rooms of the user are sorted first.
const listJoined = listOf(
  'chat_rooms.list_joined',
  `SELECT ${COLUMNS} FROM chat_members mine
     JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = mine.room_id
    WHERE mine.tenant_id = $1 AND mine.user_id = $2 AND ${FILTERS}`,
);

// Index: chat_rooms_open.
const listOpen = listOf(
  'chat_rooms.list_open',
  `SELECT ${COLUMNS} FROM chat_rooms room
     LEFT JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2
    WHERE room.tenant_id = $1 AND room.visibility = 'tenant' AND mine.user_id IS NULL AND ${FILTERS}`,
);

const read = workspace.statement<{ room: string; members: string; is_member: boolean }>(
  'chat_rooms.read',
  `SELECT ${ROOM}::text AS room, mine.user_id IS NOT NULL AS is_member, coalesce((
            SELECT json_agg(shown.member) FROM (
              SELECT ${MEMBER} AS member FROM chat_members member
                JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id
               WHERE member.tenant_id = $1 AND member.room_id = room.id AND mine.user_id IS NOT NULL
               ORDER BY member.role DESC, member.joined_at, member.user_id LIMIT 200) shown), '[]')::text AS members
     FROM chat_rooms room
     LEFT JOIN chat_members mine ON mine.tenant_id = $1 AND mine.room_id = room.id AND mine.user_id = $2 ${JOINS}
    WHERE room.tenant_id = $1 AND room.id = $3 AND room.deleted_at IS NULL
      AND (mine.user_id IS NOT NULL OR room.visibility = 'tenant')`,
);

const ofMember = workspace.statement<MemberRoom>(
  'chat_rooms.of_member',
  `SELECT room.id, room.type, room.name, room.archived_at IS NOT NULL AS archived, room.members_count,
          room.mod_seq::float8 AS mod_seq, member.role
     FROM chat_members member
     JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = member.room_id AND room.deleted_at IS NULL
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.room_id = $3`,
  { pipelined: true },
);

/** SQL of rooms and their members. */
@Injectable()
export class RoomsRepository {
  constructor(
    private readonly db: Db,
    private readonly activeCalls: ActiveCalls,
    private readonly messages: MessageStore,
  ) {}

  async list(
    { tenantId, userId }: RequestContext,
    { type, archived, joined, updated_after }: ListRooms,
    after: readonly [string, string] | undefined,
    limit: number,
  ): Promise<ListedRoom[]> {
    const [activeAt = null, id = null] = after ?? [];
    const filters = [type ?? null, archived === 'true', updated_after ?? null];
    const values = [tenantId, userId, ...filters, activeAt, id, limit, PAGE_BYTES];
    return this.db.query(joined === 'true' ? listJoined : listOpen, values);
  }

  /** JSON of a room that the caller is a member of or may join. */
  async read(ctx: RequestContext, id: string, reader: Reader = this.db): Promise<string | undefined> {
    const [row] = await reader.query(read, [ctx.tenantId, ctx.userId, id]);
    if (!row) return undefined;
    const call = row.is_member ? await this.activeCalls.find(reader, ctx, id) : null;
    return `${row.room.slice(0, -1)},"active_call":${call},"members":${row.members}}`;
  }

  /** @returns undefined for a room that the caller is not a member of */
  async ofMember(
    { tenantId, userId }: MemberKey,
    roomId: string,
    reader: Reader = this.db,
  ): Promise<MemberRoom | undefined> {
    return (await reader.query(ofMember, [tenantId, userId, roomId]))[0];
  }

  /** Locks the room until the end of the transaction. @returns the role of the caller; null without membership */
  async lock(tx: Tx, ctx: MemberKey, roomId: string): Promise<ChatRole | null> {
    await this.messages.lockRoom(tx, ctx, roomId);
    return (await this.ofMember(ctx, roomId, tx))?.role ?? null;
  }

  async find(tx: Tx, { tenantId }: RequestContext, id: string): Promise<ChatRoom | null> {
    return rowsOf(tx, ChatRoom).one({ tenant_id: tenantId, id });
  }

  /** Adds a room without members. @returns null for a direct room that exists */
  async insert(
    tx: Tx,
    { tenantId, userId: createdBy }: RequestContext,
    values: Pick<ChatRoom, 'type' | 'name' | 'topic' | 'visibility' | 'direct_key'>,
  ): Promise<ChatRoom | null> {
    return rowsOf(tx, ChatRoom).insert({
      ...values,
      tenant_id: tenantId,
      id: uuidv7(),
      created_by: createdBy,
    });
  }

  async findDirect(tx: Tx, { tenantId }: RequestContext, directKey: string): Promise<ChatRoom | null> {
    return rowsOf(tx, ChatRoom).one({ tenant_id: tenantId, direct_key: directKey });
  }

  async update(tx: Tx, { tenantId }: RequestContext, id: string, values: Partial<ChatRoom>): Promise<void> {
    await rowsOf(tx, ChatRoom).update({ tenant_id: tenantId, id }, { ...values, updated_at: () => 'now()' });
  }

  /** Adds the message of a change. The room is locked. @returns its `mod_seq`; 0 in a deleted room */
  async report(
    tx: Tx,
    ctx: MemberKey,
    roomId: string,
    event: RoomEvent | CallEvent,
    kind: 'system' | 'call' = 'system',
  ): Promise<number> {
    const message = reportMessage(ctx.userId, kind, event);
    return (await this.messages.appendLocked(tx, ctx, roomId, message))?.mod_seq ?? 0;
  }
}
