import { JsonReply } from '../../../platform/http/json-reply.js';
import type { ChatRoomEnvelope, DeletedChatRoomEnvelope } from './room.response.js';

export const roomReply = (
  room: string,
  options: { status?: number; location?: string } = {},
): JsonReply<ChatRoomEnvelope> => JsonReply.ofTexts<ChatRoomEnvelope>({ room }, options);

export const deletedRoomReply = (room: string): JsonReply<DeletedChatRoomEnvelope> =>
  JsonReply.ofTexts<DeletedChatRoomEnvelope, 'room'>({ room }, {}, { deleted: true });
