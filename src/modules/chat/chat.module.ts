import { Module } from '@nestjs/common';
import { PresenceModule } from '../presence/index.js';
import { TenantsModule } from '../tenants/index.js';
import { ChatAttachmentsController } from './attachments/chat-attachments.controller.js';
import { ChatAttachmentsRepository } from './attachments/chat-attachments.repository.js';
import { ChatAttachmentsService } from './attachments/chat-attachments.service.js';
import { Thumbnails } from './attachments/thumbnails.js';
import { ChatApi } from './chat.api.js';
import { ChatChanges } from './chat-changes.js';
import { ChatNotifier } from './chat-notifier.js';
import { ChatNotifications } from './chat.notifications.js';
import { GuestChatApi } from './guest-chat.api.js';
import { FanoutRepository } from './messages/fanout.repository.js';
import { MessageSockets } from './messages/message-sockets.js';
import { ResumeService } from './messages/resume.js';
import { RoomCatchUp } from './messages/room-catch-up.js';
import { MessageEvents } from './messages/message-events.js';
import { RoomFanout } from './messages/room-fanout.js';
import { RoomStates } from './messages/room-states.js';
import { MessagesController, PartiesController } from './messages/messages.controller.js';
import { MessagesRepository } from './messages/messages.repository.js';
import { MessagesService } from './messages/messages.service.js';
import { MessageFacts } from './changes/message-facts.js';
import { MessageFiles } from './changes/message-files.js';
import { MessageStore } from './changes/message-store.js';
import { MessageWrites } from './changes/message-writes.js';
import { RoomPresenceController } from './presence/room-presence.controller.js';
import { RoomPresenceRepository } from './presence/room-presence.repository.js';
import { RoomPresenceService } from './presence/room-presence.service.js';
import { ActiveCalls } from './rooms/active-calls.js';
import { RoomMembersService } from './rooms/room-members.service.js';
import { RoomMembersRepository } from './rooms/room-members.repository.js';
import { RoomPurge } from './rooms/room-purge.js';
import { RoomUsers } from './rooms/room-users.js';
import { RoomsController } from './rooms/rooms.controller.js';
import { RelatedRooms } from './rooms/related-rooms.js';
import { RoomsOfMembers } from './rooms/rooms-of-members.js';
import { RoomsRepository } from './rooms/rooms.repository.js';
import { RoomsService } from './rooms/rooms.service.js';
import { ChatUsersController } from './users/chat-users.controller.js';
import { ChatUsersRepository } from './users/chat-users.repository.js';
import { ChatPersonalData } from './chat-personal-data.js';

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
