import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import { PermissionSource } from '../../../platform/context/permission.guard.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields, rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { ChatMember, type ChatRole, type ChatRoom } from '../chat.schema.js';
import { ROOM_ACCESS_CHANGING } from '../chat-hooks.js';
import { ChatChanges } from '../chat-changes.js';
import { ChatNotifications } from '../chat.notifications.js';
import { ChatErrors } from '../chat.dto.js';
import { atLeast } from '../model/message-rules.js';
import { checkNewRoom, checkVisibility, directKey, RoomUsers } from './room-members.service.js';
import { RoomMembersRepository } from './room-members.repository.js';
import type {
  ChatRoomEnvelope,
  ChatRoomListEnvelope,
  CreateRoom,
  DeletedChatRoomEnvelope,
  ListRooms,
  UpdateRoom,
} from './rooms.dto.js';
import { type ListedRoom, RoomsRepository } from './rooms.repository.js';
import { deletedRoomReply, roomReply } from '../chat.presenter.js';

/** Rooms: direct ones of two users, private groups, and channels. */
@Injectable()
export class RoomsService {
  constructor(
    private readonly rooms: RoomsRepository,
    private readonly members: RoomMembersRepository,
    private readonly users: RoomUsers,
    private readonly changes: ChatChanges,
    private readonly notifications: ChatNotifications,
    private readonly permissions: PermissionSource,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly hooks: TxHooks,
    private readonly db: Db,
  ) {}

  /** The most recently active room first. @throws ApiError 422 `invalid_cursor` */
  async list(ctx: RequestContext, query: ListRooms): Promise<JsonReply<ChatRoomListEnvelope>> {
    const { type, archived, joined, updated_after } = query;
    const filters = JSON.stringify([type, archived, joined, updated_after]);
    const { rows, next } = await this.cursors.page(query, {
      scope: `chat_rooms ${ctx.tenantId} ${ctx.userId} ${filters}`,
      key: (row: ListedRoom): [string, string] => [row.listed, row.id],
      fits: (row) => row.fits,
      rows: (after, limit) => this.rooms.list(ctx, query, after, limit),
    });
    const rooms = rows.map(({ room }) => room as string);
    return JsonReply.listOf('rooms', rooms, { next });
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<JsonReply<ChatRoomEnvelope>> {
    const room = await this.rooms.read(ctx, id);
    if (!room) throw ChatErrors.roomNotFound.with();
    return roomReply(room);
  }

  /**
   * Creates a room with the caller as its owner. Two users have at most one direct room: if it exists, it is returned, even if
   * the other user is deactivated.
   * @throws ApiError 404 for an unknown user, 422
   */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateRoom,
  ): Promise<JsonReply<ChatRoomEnvelope>> {
    const others = input.member_ids.filter((id) => id !== ctx.userId);
    checkNewRoom(input, others);
    const pair = input.type === 'direct' ? directKey(ctx.userId, others[0] as string) : null;
    return this.writes.runTx(ctx, key, async (tx) => {
      const existing = pair === null ? null : await this.rooms.findDirect(tx, ctx, pair);
      if (!existing) await this.users.assertAddable(tx, ctx, others, [ctx.userId], () => 'member_ids');
      const made = existing ? null : await this.insert(tx, ctx, input, others, pair);
      // Another request may have made the direct room meanwhile.
      const room = existing ?? made ?? (await this.rooms.findDirect(tx, ctx, pair as string));
      const { id } = room as ChatRoom;
      const json = (await this.rooms.read(ctx, id, tx)) as string;
      return roomReply(json, made ? { status: 201, location: `/apis/v1/chat/rooms/${id}` } : {});
    });
  }

  /**
   * Changes fields of the room, and settings of the caller.
   * @throws ApiError 404, 403, 422 `direct_room`
   */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateRoom>,
  ): Promise<JsonReply<ChatRoomEnvelope>> {
    return this.db.tx(async (tx) => {
      const { room, role } = await this.locked(tx, ctx, id);
      const { muted_until, notify, ...shared } = body.value;
      await this.changeRoom(tx, ctx, room, role, shared);
      if (muted_until !== undefined || notify !== undefined) {
        const own = {
          ...(muted_until !== undefined && { muted_until }),
          ...(notify && { notify }),
        };
        const { tenantId, userId } = ctx;
        await rowsOf(tx, ChatMember).update({ tenant_id: tenantId, room_id: id, user_id: userId }, own);
      }
      return roomReply((await this.rooms.read(ctx, id, tx)) as string);
    });
  }

  /** Its messages and files are deleted by a job. @throws ApiError 404, 403, 422 `direct_room` */
  async delete(ctx: RequestContext, id: string): Promise<JsonReply<DeletedChatRoomEnvelope>> {
    return this.db.tx(async (tx) => {
      const { room, role } = await this.locked(tx, ctx, id);
      if (room.type === 'direct') throw ChatErrors.directRoom.with();
      await this.assertRole(ctx, role, 'owner');
      const shown = (await this.rooms.read(ctx, id, tx)) as string;
      await this.rooms.update(tx, ctx, id, { deleted_at: new Date() });
      await this.hooks.run(tx, ROOM_ACCESS_CHANGING, { ...ctx, roomId: id, removed: null });
      await this.notifications.endOf(tx, ctx, id, null);
      this.changes.reportDeletion(tx, ctx, id);
      await this.record(tx, ctx, 'chat.room.deleted', id, { name: room.name });
      return deletedRoomReply(shown);
    });
  }

  private async insert(
    tx: Tx,
    ctx: RequestContext,
    input: CreateRoom,
    others: readonly string[],
    pair: string | null,
  ): Promise<ChatRoom | null> {
    const { type, name = null, topic = '', visibility = 'private' } = input;
    const made = await this.rooms.insert(tx, ctx, { type, name, topic, visibility, direct_key: pair });
    if (!made) return null;
    const isDirect = type === 'direct';
    await this.members.add(tx, ctx, made.id, isDirect ? [ctx.userId, ...others] : [ctx.userId], 'owner');
    if (!isDirect) await this.members.add(tx, ctx, made.id, others, 'member');
    await this.record(tx, ctx, 'chat.room.created', made.id, { type, name, members: others.length + 1 });
    this.changes.reportAddition(tx, ctx, made.id, [ctx.userId, ...others]);
    if (!isDirect) await this.notifications.notifyAdded(tx, ctx, made.id, others);
    return made;
  }

  private async changeRoom(
    tx: Tx,
    ctx: RequestContext,
    room: ChatRoom,
    role: ChatRole,
    { name, topic, visibility, archived }: UpdateRoom,
  ): Promise<void> {
    const changes = changedFields<Partial<ChatRoom>>(room, { name, topic, visibility }) ?? {};
    const isArchiving = archived !== undefined && archived !== (room.archived_at !== null);
    if (isArchiving) changes.archived_at = archived ? new Date() : null;
    if (Object.keys(changes).length === 0) return;
    if (room.type === 'direct') throw ChatErrors.directRoom.with();
    await this.assertRole(ctx, role, 'moderator');
    if (name === null) throw fieldError('name', 'required', 'name is required');
    checkVisibility(room.type, visibility);
    await this.rooms.update(tx, ctx, room.id, changes);
    const { archived_at: _, ...fields } = changes;
    const reported = { ...fields, ...(isArchiving && { archived }) };
    const modSeq = await this.rooms.report(tx, ctx, room.id, { type: 'room_updated', changes: reported });
    this.changes.reportChange(tx, ctx, room.id, modSeq);
    await this.record(tx, ctx, 'chat.room.updated', room.id, reported);
  }

  private async locked(tx: Tx, ctx: RequestContext, id: string): Promise<{ room: ChatRoom; role: ChatRole }> {
    const role = await this.rooms.lock(tx, ctx, id);
    const room = role && (await this.rooms.find(tx, ctx, id));
    if (!room) throw ChatErrors.roomNotFound.with();
    return { room, role };
  }

  /** @throws ApiError 403 below this role, except with the permission `chat.rooms.moderate` */
  private async assertRole(ctx: RequestContext, role: ChatRole, needed: ChatRole): Promise<void> {
    if (atLeast(role, needed)) return;
    if (!(await this.permissions.permissionsOf(ctx)).has('chat.rooms.moderate'))
      throw Errors.forbidden.with();
  }

  private async record(
    tx: Tx,
    ctx: RequestContext,
    action: string,
    id: string,
    data: Record<string, unknown>,
  ) {
    await this.audit.record(tx, ctx, { action, objectKind: 'chat_room', objectId: id, data });
  }
}
