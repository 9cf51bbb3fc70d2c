import { Injectable } from '@nestjs/common';
import { Audit } from '../../../platform/audit/audit.js';
import { PermissionSource } from '../../../platform/context/permission.guard.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { TenantsApi } from '../../tenants/index.js';
import { ChatChanges } from '../chat-changes.js';
import { ROOM_ACCESS_CHANGING } from '../chat-hooks.js';
import { ChatErrors } from '../chat.dto.js';
import { ChatNotifications } from '../chat.notifications.js';
import type { ChatRole, ChatRoom } from '../chat.schema.js';
import { atLeast } from '../model/message-rules.js';
import { type ListedMember, RoomMembersRepository } from './room-members.repository.js';
import type {
  AddedChatMembersEnvelope,
  AddMembers,
  ChatMemberListEnvelope,
  CreateRoom,
  RemovedChatMemberEnvelope,
} from './rooms.dto.js';
import { type RoomEvent, RoomsRepository } from './rooms.repository.js';

/** The two users of a direct room, as its unique key. */
export const directKey = (one: string, other: string): string => [one, other].toSorted().join(' ');

/**
 * Checks the fields of a new room that depend on its type.
 * @param others ids of the other members, without the creator
 * @throws ApiError 422
 */
export function checkNewRoom(input: CreateRoom, others: readonly string[]): void {
  const { type, name, topic, visibility } = input;
  if (type !== 'direct') {
    if (name === undefined) throw fieldError('name', 'required', 'name is required');
    checkVisibility(type, visibility);
    return;
  }
  if ((name ?? topic ?? visibility) !== undefined) throw ChatErrors.directRoom.with();
  if (others.length !== 1)
    throw fieldError('member_ids', 'one_other', 'member_ids must contain exactly one other user');
}

/** @throws ApiError 422 for a group that any member of the workspace could join */
export function checkVisibility(type: ChatRoom['type'], visibility: string | undefined): void {
  if (visibility === 'tenant' && type !== 'channel')
    throw fieldError('visibility', 'channels_only', 'visibility tenant is for channels only');
}

/** Any member may add others to groups and open channels, and any user may join an open channel. */
export function mayAdd(room: ChatRoom, role: ChatRole | null, isJoining: boolean): boolean {
  if (room.visibility === 'tenant' && isJoining) return true;
  if (role === null) return false;
  return room.type === 'group' || room.visibility === 'tenant' || atLeast(role, 'moderator');
}

/**
 * Users with fewer than `QUOTAS.user.chat_rooms - LOCK_MARGIN` rooms are not locked, because PostgreSQL holds only a few thousand advisory locks.
 * The margin exceeds the number of concurrent additions of one user.
 */
const LOCK_MARGIN = 200;

/** Checks of users that are about to become members of a room. */
@Injectable()
export class RoomUsers {
  constructor(
    private readonly tenants: TenantsApi,
    private readonly members: RoomMembersRepository,
  ) {}

  /**
   * @param others users to look up: known and active
   * @param callers users that are known to be active
   * @param fieldOf the field of the request that names a user
   * @throws ApiError 404 for an unknown or deactivated user, 422 `too_many_rooms`
   */
  async assertAddable(
    tx: Tx,
    ctx: RequestContext,
    others: readonly string[],
    callers: readonly string[],
    fieldOf: (userId: string) => string,
  ): Promise<void> {
    await this.assertActive(tx, ctx, others, fieldOf);
    const near = await this.members.inManyRooms(
      tx,
      ctx,
      [...others, ...callers],
      QUOTAS.user.chat_rooms - LOCK_MARGIN,
    );
    if (near.length === 0) return;
    await this.members.lockUsers(tx, ctx, near);
    const full = await this.members.inManyRooms(tx, ctx, near, QUOTAS.user.chat_rooms);
    if (full.length > 0) throw ChatErrors.tooManyRooms.with();
  }

  /** @throws ApiError 404 for an unknown or deactivated user */
  async assertActive(
    tx: Tx,
    { tenantId }: RequestContext,
    users: readonly string[],
    fieldOf: (userId: string) => string,
  ): Promise<void> {
    const known = await this.tenants.findActiveMembers(tx, tenantId, [...users]);
    const unknown = users.find((id) => !known.has(id));
    if (unknown === undefined) return;
    const message = `${unknown} is not an active member of the workspace`;
    throw ChatErrors.userNotFound.with({
      details: [{ field: fieldOf(unknown), code: 'unknown_user', message }],
    });
  }
}

interface LockedRoom {
  room: ChatRoom;
  /** Role of the caller, raised to `owner` by the permission `chat.rooms.moderate`; null for a channel that may be joined. */
  role: ChatRole | null;
}

/** Members of rooms and their roles. */
@Injectable()
export class RoomMembersService {
  constructor(
    private readonly rooms: RoomsRepository,
    private readonly members: RoomMembersRepository,
    private readonly users: RoomUsers,
    private readonly changes: ChatChanges,
    private readonly notifications: ChatNotifications,
    private readonly permissions: PermissionSource,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly hooks: TxHooks,
    private readonly db: Db,
  ) {}

  /** The order is that of the names. @throws ApiError 404 */
  async list(
    ctx: RequestContext,
    roomId: string,
    query: PageQuery,
  ): Promise<JsonReply<ChatMemberListEnvelope>> {
    if (!(await this.rooms.ofMember(ctx, roomId))) throw ChatErrors.roomNotFound.with();
    const { rows, next } = await this.cursors.page(query, {
      scope: `chat_members ${ctx.tenantId} ${ctx.userId} ${roomId}`,
      key: (row: ListedMember): [string, string] => [row.display_name, row.id],
      rows: (after, limit) => this.members.list(this.db, ctx, roomId, { after, limit }),
    });
    const members = rows.map(({ member }) => member);
    return JsonReply.listOf('members', members, { next });
  }

  /**
   * Adds members, or changes their role.
   * @throws ApiError 404, 403, 409 `room_archived`, `last_owner`, 422 `direct_room`, `too_many_members`, `too_many_rooms`
   */
  async add(
    ctx: RequestContext,
    roomId: string,
    body: Checked<AddMembers>,
  ): Promise<JsonReply<AddedChatMembersEnvelope>> {
    return this.db.tx(async (tx) => {
      const locked = await this.locked(tx, ctx, roomId);
      const { role, user_id: single } = body.value;
      const userIds = usersOf(body.value);
      this.assertMayAdd(ctx, locked, userIds, role);
      const present = await this.members.list(tx, ctx, roomId, { only: userIds, limit: userIds.length });
      const presentIds = new Set(present.map(({ id }) => id));
      const missing = userIds.filter((id) => !presentIds.has(id));
      if (locked.room.members_count + missing.length > QUOTAS.item.members_of_chat_room)
        throw ChatErrors.tooManyMembers.with();
      const fieldOf = (id: string) => (id === single ? 'user_id' : 'user_ids');
      await this.users.assertAddable(tx, ctx, missing, [], fieldOf);
      // A deactivated member keeps a role, or loses it, but cannot use another one.
      if (role !== undefined && role !== 'member')
        await this.users.assertActive(tx, ctx, [...presentIds], fieldOf);
      const changed = await this.write(tx, ctx, roomId, missing, role && { role, userIds: [...presentIds] });
      const shown = await this.members.list(tx, ctx, roomId, { only: userIds, limit: userIds.length });
      const texts = shown.map(({ member }) => member);
      return JsonReply.listOf('members', texts, {}, { status: changed ? 201 : 200 });
    });
  }

  /** @throws ApiError 404, 403, 409 `last_owner`, 422 `direct_room` */
  async remove(
    ctx: RequestContext,
    roomId: string,
    userId: string,
  ): Promise<JsonReply<RemovedChatMemberEnvelope>> {
    return this.db.tx(async (tx) => {
      const { room, role } = await this.locked(tx, ctx, roomId);
      if (role === null) throw ChatErrors.roomNotFound.with();
      if (room.type === 'direct') throw ChatErrors.directRoom.with();
      const removed = await this.members.remove(tx, ctx, roomId, userId);
      if (removed === null) throw ChatErrors.memberNotFound.with();
      const needed = removed === 'member' ? 'moderator' : 'owner';
      if (userId !== ctx.userId && !atLeast(role, needed)) throw Errors.forbidden.with();
      if (removed === 'owner') await this.assertOwnerRemains(tx, ctx, roomId);
      await this.hooks.run(tx, ROOM_ACCESS_CHANGING, { ...ctx, roomId, removed: [userId] });
      this.notifications.endFor(tx, ctx, roomId, [userId]);
      await this.report(tx, ctx, roomId, { type: 'member_removed', user_ids: [userId] });
      await this.record(tx, ctx, 'chat.member.removed', roomId, { user_id: userId });
      return JsonReply.of({ removed: true });
    });
  }

  private assertMayAdd(
    ctx: RequestContext,
    { room, role }: LockedRoom,
    userIds: readonly string[],
    newRole: ChatRole | undefined,
  ): void {
    if (room.type === 'direct') throw ChatErrors.directRoom.with();
    const isJoining = userIds.every((id) => id === ctx.userId);
    if (!mayAdd(room, role, isJoining)) throw Errors.forbidden.with();
    if (newRole !== undefined && !atLeast(role, 'owner')) throw Errors.forbidden.with();
    if (room.archived_at !== null) throw ChatErrors.roomArchived.with();
  }

  /** @returns whether anything changed */
  private async write(
    tx: Tx,
    ctx: RequestContext,
    roomId: string,
    missing: readonly string[],
    change: { role: ChatRole; userIds: string[] } | undefined,
  ): Promise<boolean> {
    const role = change?.role ?? 'member';
    const added = missing.length === 0 ? [] : await this.members.add(tx, ctx, roomId, missing, role);
    if (added.length > 0) {
      await this.report(tx, ctx, roomId, { type: 'members_added', user_ids: added, role });
      await this.record(tx, ctx, 'chat.members.added', roomId, { user_ids: added, role });
      await this.notifications.notifyAdded(tx, ctx, roomId, added);
    }
    if (!change) return added.length > 0;
    const changed = await this.members.setRole(tx, ctx, roomId, change.userIds, role);
    if (changed.length === 0) return added.length > 0;
    await this.assertOwnerRemains(tx, ctx, roomId);
    await this.report(tx, ctx, roomId, { type: 'role_changed', user_ids: changed, role });
    await this.record(tx, ctx, 'chat.members.role_changed', roomId, { user_ids: changed, role });
    return true;
  }

  private async locked(tx: Tx, ctx: RequestContext, roomId: string): Promise<LockedRoom> {
    const role = await this.rooms.lock(tx, ctx, roomId);
    const room = await this.rooms.find(tx, ctx, roomId);
    if (!room || room.deleted_at !== null) throw ChatErrors.roomNotFound.with();
    if (role === null && room.visibility !== 'tenant') throw ChatErrors.roomNotFound.with();
    if (role === null || role === 'owner') return { room, role };
    const moderates = (await this.permissions.permissionsOf(ctx)).has('chat.rooms.moderate');
    return { room, role: moderates ? 'owner' : role };
  }

  private async assertOwnerRemains(tx: Tx, ctx: RequestContext, roomId: string): Promise<void> {
    if ((await this.members.activeOwners(tx, ctx, roomId)) === 0) throw ChatErrors.lastOwner.with();
  }

  private async report(tx: Tx, ctx: RequestContext, roomId: string, event: RoomEvent): Promise<void> {
    this.changes.reportChange(tx, ctx, roomId, await this.rooms.report(tx, ctx, roomId, event));
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

/** @throws ApiError 422 for a request without users */
function usersOf({ user_id, user_ids = [] }: AddMembers): string[] {
  const ids = [...new Set([...(user_id === undefined ? [] : [user_id]), ...user_ids])];
  if (ids.length === 0) throw fieldError('user_ids', 'is_not_empty', 'user_id or user_ids is required');
  return ids;
}
