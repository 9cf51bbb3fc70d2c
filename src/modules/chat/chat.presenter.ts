import { JsonReply } from '../../platform/http/json-reply.js';
import type { ChatAttachmentEnvelope } from './chat.dto.js';
import type { ChatRoomEnvelope, DeletedChatRoomEnvelope } from './rooms/rooms.dto.js';

/** 201 `{ attachment }`. */
export const newAttachmentReply = (id: string, attachment: string): JsonReply<ChatAttachmentEnvelope> =>
  JsonReply.ofTexts<ChatAttachmentEnvelope>(
    { attachment },
    { status: 201, location: `/apis/v1/chat/attachments/${id}` },
  );

export const roomReply = (
  room: string,
  options: { status?: number; location?: string } = {},
): JsonReply<ChatRoomEnvelope> => JsonReply.ofTexts<ChatRoomEnvelope>({ room }, options);

export const deletedRoomReply = (room: string): JsonReply<DeletedChatRoomEnvelope> =>
  JsonReply.ofTexts<DeletedChatRoomEnvelope, 'room'>({ room }, {}, { deleted: true });
