export { ChatModule } from './chat.module.js';
export { GuestChatApi } from './guest-chat.api.js';
export type { GuestMessagesQuery } from './messages/guest-messages.js';
export type { RoomGuest } from './room-guest.js';
