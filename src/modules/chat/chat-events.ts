import { ApiProperty } from '@nestjs/swagger';
import { defineServerEvent } from '../../platform/realtime/event-declarations.js';
import { UUID } from '../../platform/field-docs/field-docs.js';
import { ChatMessageResponse } from './chat.dto.js';

class RoomEvent {
  @ApiProperty(UUID) room_id!: string;
}

export class MessageEvent extends RoomEvent {
  /** Number of the change. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 14 })
  mod_seq!: number;
  /** Number of the change before it. If yours is lower, changes are missing: resume. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 13 })
  prev_mod_seq!: number;
  @ApiProperty({ type: ChatMessageResponse }) message!: ChatMessageResponse;
}

class RoomReadEvent extends RoomEvent {
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) last_read_seq!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) unread!: number;
}

class TypingEvent extends RoomEvent {
  @ApiProperty(UUID) user_id!: string;
  @ApiProperty({ example: true }) on!: boolean;
  /** Seconds after which the user is no longer typing, unless the event is repeated. */
  @ApiProperty({ type: 'integer', example: 6 })
  expires_in!: number;
}

export const MESSAGE_CREATED = defineServerEvent('message.created', 'A new message.', MessageEvent);
export const MESSAGE_UPDATED = defineServerEvent(
  'message.updated',
  'A message as it is now, after an edit or a reaction.',
  MessageEvent,
);
export const MESSAGE_DELETED = defineServerEvent(
  'message.deleted',
  'A deleted message, without its content.',
  MessageEvent,
);
export const ROOM_ADDED_EVENT = defineServerEvent(
  'room.added',
  'You are a member of the room now.',
  RoomEvent,
);
export const ROOM_REMOVED_EVENT = defineServerEvent(
  'room.removed',
  'You are no longer a member of the room, or it is deleted.',
  RoomEvent,
);
export const ROOM_READ_EVENT = defineServerEvent(
  'room.read',
  'You have read messages on one of your devices.',
  RoomReadEvent,
);
export const TYPING_EVENT = defineServerEvent('typing', 'A member is typing.', TypingEvent);
