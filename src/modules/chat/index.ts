export { ActiveCalls } from './rooms/rooms.repository.js';
export { ChatApi, GuestChatApi } from './chat.api.js';
export { ChatErrors } from './chat.dto.js';
export { ROOM_ACCESS_CHANGING, type RoomAccessChange } from './chat-hooks.js';
export { ChatModule } from './chat.module.js';
export type { RoomGuest } from './chat-hooks.js';
export type { MemberRoom } from './rooms/rooms.repository.js';
