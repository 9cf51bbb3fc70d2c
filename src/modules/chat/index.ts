export { ActiveCalls } from './rooms/active-calls.js';
export { ChatApi } from './chat.api.js';
export { ChatErrors } from './chat.errors.js';
export { ROOM_ACCESS_CHANGING, type RoomAccessChange } from './chat-hooks.js';
export { ChatModule } from './chat.module.js';
export { GuestChatApi } from './guest-chat.api.js';
export type { RoomGuest } from './room-guest.js';
export type { MemberRoom } from './rooms/rooms.repository.js';
