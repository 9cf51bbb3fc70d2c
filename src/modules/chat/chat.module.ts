import { Module } from '@nestjs/common';
import { PresenceModule } from '../presence/index.js';
import { TenantsModule } from '../tenants/index.js';
import { ChatAttachmentsController } from './attachments/chat-attachments.controller.js';
import {
  ChatAttachmentsRepository,
  ChatAttachmentsService,
  Thumbnails,
} from './attachments/chat-attachments.service.js';
import { ChatApi, GuestChatApi } from './chat.api.js';
import { ChatChanges } from './chat-changes.js';
import { ChatNotifier } from './chat-notifier.js';
import { ChatNotifications } from './chat.notifications.js';
import { FanoutRepository } from './messages/fanout.repository.js';
import { MessageSockets, ResumeService } from './messages/message-sockets.js';
import { RoomCatchUp, RoomFanout, RoomStates } from './messages/room-fanout.js';
import { MessageEvents } from './messages/message-events.js';
import { MessagesController, PartiesController } from './messages/messages.controller.js';
import { MessagesRepository } from './messages/messages.repository.js';
import { MessagesService } from './messages/messages.service.js';
import { MessageFacts, MessageFiles } from './changes/message-facts.js';
import { MessageStore } from './changes/message-store.js';
import { MessageWrites } from './changes/message-writes.js';
import {
  RoomPresenceController,
  RoomPresenceRepository,
  RoomPresenceService,
} from './presence/room-presence.controller.js';
import { ActiveCalls, RoomsRepository } from './rooms/rooms.repository.js';
import { RoomMembersService, RoomUsers } from './rooms/room-members.service.js';
import { RoomMembersRepository } from './rooms/room-members.repository.js';
import { RoomPurge } from './rooms/room-purge.js';
import { RoomsController } from './rooms/rooms.controller.js';
import { RelatedRooms } from './rooms/related-rooms.js';
import { ChatPersonalData, RoomsOfMembers } from './chat-of-members.js';
import { RoomsService } from './rooms/rooms.service.js';
import { ChatUsersController, ChatUsersRepository } from './users/chat-users.controller.js';

@Module({
  imports: [TenantsModule, PresenceModule],
  controllers: [
    RoomsController,
    MessagesController,
    ChatAttachmentsController,
    ChatUsersController,
    PartiesController,
    RoomPresenceController,
  ],
  providers: [
    ChatPersonalData,
    RoomsRepository,
    RelatedRooms,
    RoomUsers,
    RoomMembersRepository,
    RoomsService,
    RoomPurge,
    RoomMembersService,
    MessagesRepository,
    MessagesService,
    MessageFacts,
    MessageFiles,
    MessageStore,
    MessageWrites,
    MessageEvents,
    ChatAttachmentsRepository,
    ChatAttachmentsService,
    Thumbnails,
    ChatUsersRepository,
    ChatChanges,
    ChatApi,
    ActiveCalls,
    ChatNotifications,
    ChatNotifier,
    FanoutRepository,
    RoomStates,
    RoomFanout,
    RoomCatchUp,
    ResumeService,
    MessageSockets,
    GuestChatApi,
    RoomPresenceRepository,
    RoomPresenceService,
    RoomsOfMembers,
  ],
  exports: [ChatApi, ActiveCalls, GuestChatApi],
})
export class ChatModule {}
