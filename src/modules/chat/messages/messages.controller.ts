import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { ChatErrors } from '../chat.dto.js';
import {
  ChatMessageEnvelope,
  ChatMessageListEnvelope,
  ChatPartyEnvelope,
  ChatReadEnvelope,
  EditMessage,
  ListMessages,
  MarkRead,
  React,
  SendMessage,
  SentChatMessageEnvelope,
} from './messages.dto.js';
import { messageReply, messagesReply, sentMessageReply } from './messages.presenter.js';
import { MessagesService } from './messages.service.js';

const LIST =
  'In the order of `seq`, the newest page first unless a position is given. `room` is the state of the same snapshot: a client whose messages reach `last_seq` has all of them.';

@ApiTags('chat')
@Controller('chat/rooms/:id')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Endpoint('GET messages', {
    id: 'listChatMessages',
    summary: 'List the messages of a room',
    description: LIST,
    response: [ChatMessageListEnvelope, 'A page of messages.'],
    errors: [ChatErrors.roomNotFound],
  })
  async list(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: ListMessages) {
    return messagesReply(await this.messages.list(ctx, id, query));
  }

  @Endpoint('POST messages', {
    id: 'sendChatMessage',
    summary: 'Send a message',
    description:
      'Idempotent by `client_msg_id`: a repeated request returns the message with status 200 and `duplicate: true`. ' +
      'A direct room with a deactivated user accepts no messages.',
    status: 201,
    response: [SentChatMessageEnvelope, 'The new message.'],
    unchanged: 'The message was sent before.',
    errors: [
      ChatErrors.roomNotFound,
      ChatErrors.userNotFound,
      ChatErrors.roomArchived,
      ChatErrors.clientMessageIdReused,
      QuotaErrors.exceeded,
      ChatErrors.unknownReply,
      ChatErrors.unknownAttachment,
      Errors.tooManyRequests,
    ],
  })
  @RateLimited({ scope: 'chat-send', by: 'account', requests: 10, perSeconds: 1, burst: 50 })
  async send(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SendMessage) body: Checked<SendMessage>,
  ) {
    return sentMessageReply(await this.messages.send(ctx, id, body));
  }

  @Endpoint('PATCH messages/:message_id', {
    id: 'editChatMessage',
    summary: 'Edit your message',
    description:
      'The message keeps its `seq`; its `mod_seq` increases. `mentions` replaces the mentioned members, and newly mentioned ones are notified.',
    response: [ChatMessageEnvelope, 'The message as it is now.'],
    errors: [
      ChatErrors.messageNotFound,
      Errors.forbidden,
      ChatErrors.messageDeleted,
      ChatErrors.roomArchived,
      ChatErrors.messageConflict,
    ],
  })
  async edit(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('message_id') messageId: string,
    @CheckedBody(EditMessage) body: Checked<EditMessage>,
  ) {
    return messageReply(await this.messages.edit(ctx, id, messageId, body));
  }

  @Endpoint('DELETE messages/:message_id', {
    id: 'deleteChatMessage',
    summary: 'Delete a message',
    description:
      'The message keeps its number and loses its content and its files. For the sender, moderators and owners of the room, and members with the permission `chat.messages.delete_any` or `chat.rooms.moderate`. A repeated request changes nothing.',
    response: [ChatMessageEnvelope, 'The message without its content.'],
    errors: [ChatErrors.messageNotFound, Errors.forbidden],
  })
  async delete(@Ctx() ctx: RequestContext, @Id() id: string, @Id('message_id') messageId: string) {
    return messageReply(await this.messages.delete(ctx, id, messageId));
  }

  @Endpoint('PUT messages/:message_id/reactions', {
    id: 'reactToChatMessage',
    summary: 'Add or remove your reaction',
    description: 'Messages of the kind `system` take no reactions.',
    response: [ChatMessageEnvelope, 'The message as it is now.'],
    errors: [
      ChatErrors.messageNotFound,
      Errors.forbidden,
      ChatErrors.messageDeleted,
      ChatErrors.roomArchived,
      ChatErrors.tooManyReactions,
    ],
  })
  async react(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Id('message_id') messageId: string,
    @CheckedBody(React) body: Checked<React>,
  ) {
    return messageReply(await this.messages.react(ctx, id, messageId, body));
  }

  @Endpoint('PUT read', {
    id: 'markChatRoomRead',
    summary: 'Mark messages as read',
    description: 'Marks the messages up to a number. A number that is lower than before changes nothing.',
    response: [ChatReadEnvelope, 'Your position in the room.'],
    errors: [ChatErrors.roomNotFound],
  })
  markRead(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Body() { seq }: MarkRead,
  ): Promise<ChatReadEnvelope> {
    return this.messages.markRead(ctx, id, seq);
  }
}

@ApiTags('chat')
@Controller('chat/user/parties/:id')
export class PartiesController {
  constructor(private readonly messages: MessagesService) {}

  @Endpoint('GET', {
    id: 'readChatParty',
    summary: 'Read the conversation with a user',
    description: 'The id of the user or of the direct room. Creates no room.',
    response: [ChatPartyEnvelope, 'The conversation.'],
    errors: [ChatErrors.partyNotFound],
  })
  async read(@Ctx() ctx: RequestContext, @Id() id: string): Promise<ChatPartyEnvelope> {
    const { room_id, unread, user_id, display_name, email } = await this.messages.party(ctx, id);
    return { party: { id, room_id, users: [{ id: user_id, display_name, email }], unread } };
  }

  @Endpoint('GET messages', {
    id: 'listChatPartyMessages',
    summary: 'List the messages of the conversation with a user',
    description: LIST,
    response: [ChatMessageListEnvelope, 'A page of messages; empty without a room.'],
    errors: [ChatErrors.partyNotFound],
  })
  async list(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: ListMessages) {
    return messagesReply(await this.messages.ofParty(ctx, id, query));
  }
}
