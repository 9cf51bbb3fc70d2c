import { defineError } from '../../platform/http/api-error.js';
import { exampleOf } from '../../platform/resources/example.js';
import { QUOTAS, shown } from '../../platform/quotas/quotas.js';
import { ChatMessageConflictResponse, ChatMessageResponse } from './message.response.js';

export const ChatErrors = {
  roomNotFound: defineError(404, 'not_found', 'You have no such room.'),
  messageNotFound: defineError(404, 'not_found', 'The room has no such message.'),
  attachmentNotFound: defineError(404, 'not_found', 'You have no such attachment.'),
  partyNotFound: defineError(404, 'not_found', 'There is no such user or direct room.'),
  userNotFound: defineError(404, 'not_found', 'A user is unknown or deactivated.'),
  memberNotFound: defineError(404, 'not_found', 'The room has no such member.'),
  roomArchived: defineError(409, 'room_archived', 'The room is archived.'),
  messageDeleted: defineError(409, 'message_deleted', 'The message is deleted.'),
  lastOwner: defineError(409, 'last_owner', 'The room needs another owner first.'),
  clientMessageIdReused: defineError(
    409,
    'idempotency_key_reused',
    'This client_msg_id was used for another message of the room.',
  ),
  messageConflict: defineError(
    409,
    'conflict',
    'The message has changed since you read it; its current state is in this response.',
    { example: { current: exampleOf(ChatMessageResponse) }, type: ChatMessageConflictResponse },
  ),
  directRoom: defineError(422, 'direct_room', 'A direct room always has the same two members and no name.'),
  tooManyMembers: defineError(
    422,
    'too_many_members',
    `A room may have at most ${shown(QUOTAS.item.members_of_chat_room)} members.`,
  ),
  tooManyRooms: defineError(
    422,
    'too_many_rooms',
    `A user may be in at most ${shown(QUOTAS.user.chat_rooms)} rooms.`,
  ),
  tooManyReactions: defineError(
    422,
    'too_many_reactions',
    'A message may have at most 20 different reactions.',
  ),
  tooManyUnsent: defineError(
    422,
    'too_many_unsent_attachments',
    'Send or wait: at most 50 uploaded files may be unsent.',
  ),
  unknownReply: defineError(422, 'unknown_reply', 'The room has no message with the id in reply_to.'),
  unknownAttachment: defineError(
    422,
    'unknown_attachment',
    'An attachment is unknown, sent already, or of another user.',
  ),
} as const;
