import { fieldError } from '../../../platform/http/errors.js';
import type { ChatRole, ChatRoom } from '../chat.entity.js';
import { ChatErrors } from '../chat.errors.js';
import { atLeast } from '../model/chat-roles.js';
import type { CreateRoom } from './rooms.dto.js';

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
