import { Controller, Delete, Get, HttpCode, Post, Put, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import type { Fields } from '../input/fields.js';
import { Call, JsonObject, type MailCall } from '../mail-call.js';
import type { MailReply } from '../mail-client.js';
import { MailExceptionFilter } from '../mail-exception.filter.js';
import {
  MAIL_BODY_ERRORS,
  MailboxParam,
  MailOperation,
  MESSAGE_LIMIT,
  MessageListParams,
  MessageParam,
} from '../mail.docs.js';
import { NewMessage, SubmitMessage, UpdateMessage, UpdateMessages } from '../mail.dto.js';
import { CREATE_MESSAGE, SUBMIT_MESSAGE, UPDATE_MESSAGE, UPDATE_MESSAGES } from '../mail.examples.js';
import {
  MailBulkResult,
  MailMessage,
  MailMessageCreated,
  MailMessageList,
  MailSubmission,
  MailSuccess,
} from '../mail.response.js';
import { MailMoves } from './mail-moves.js';
import { MessagesService } from './messages.service.js';

/** The messages of the caller's own mailboxes. */
@UseFilters(MailExceptionFilter)
@Controller('mail/users/me/mailboxes/:mailbox/messages')
export class MessagesController {
  constructor(
    private readonly messages: MessagesService,
    private readonly moves: MailMoves,
  ) {}

  @MailOperation({
    id: 'listMessages',
    summary: 'List the messages of a mailbox',
    description: 'Send `cursor` for the next page, and `direction=previous` with it for the previous page.',
  })
  @MessageListParams()
  @ApiOkResponse({ type: MailMessageList, description: 'A page of messages.' })
  @Get()
  list(@Call() call: MailCall): Promise<MailReply> {
    return this.messages.list(call);
  }

  @MailOperation({
    id: 'createMessage',
    summary: 'Create a message',
    description: 'Up to 40 MiB of JSON. To send a message, create it as a draft and submit the draft.',
    errors: MAIL_BODY_ERRORS,
  })
  @MailboxParam()
  @ApiBody({ type: NewMessage, examples: CREATE_MESSAGE })
  @ApiOkResponse({ type: MailMessageCreated, description: 'The message is stored.' })
  @BodyLimit(MESSAGE_LIMIT)
  @HttpCode(200)
  @Post()
  create(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.messages.create(call, body);
  }

  @MailOperation({
    id: 'updateMessages',
    summary: 'Mark, move, restore or delete messages',
    description: 'A moved message gets a new id in its new mailbox; the response pairs old and new ids.',
    errors: MAIL_BODY_ERRORS,
  })
  @MailboxParam()
  @ApiBody({ type: UpdateMessages, examples: UPDATE_MESSAGES })
  @ApiOkResponse({ type: MailBulkResult, description: 'The number of marked messages, or the moves.' })
  @Put()
  updateMany(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.moves.update(call, body);
  }

  @MailOperation({ id: 'readMessage', summary: 'Read a message' })
  @MessageParam()
  @ApiOkResponse({ type: MailMessage, description: 'The message.' })
  @Get(':message')
  read(@Call() call: MailCall): Promise<MailReply> {
    return this.messages.read(call);
  }

  @MailOperation({ id: 'updateMessage', summary: 'Mark or move a message', errors: MAIL_BODY_ERRORS })
  @MessageParam()
  @ApiBody({ type: UpdateMessage, examples: UPDATE_MESSAGE })
  @ApiOkResponse({ type: MailBulkResult, description: 'The message was changed.' })
  @Put(':message')
  update(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.messages.update(call, body);
  }

  @MailOperation({ id: 'deleteMessage', summary: 'Delete a message permanently' })
  @MessageParam()
  @ApiOkResponse({ type: MailSuccess, description: 'The message was deleted.' })
  @Delete(':message')
  delete(@Call() call: MailCall): Promise<MailReply> {
    return this.messages.delete(call);
  }

  @MailOperation({
    id: 'submitMessage',
    summary: 'Send a draft',
    description:
      'Queues the draft for delivery and moves it to the sent mail. A failed delivery is reported by mail. With the embedded mail service, deleting or moving the sent copy before `sendTime` cancels the delivery; in the drafts it is a draft again.',
    errors: MAIL_BODY_ERRORS,
  })
  @MessageParam()
  @ApiBody({ type: SubmitMessage, required: false, examples: SUBMIT_MESSAGE })
  @ApiOkResponse({ type: MailSubmission, description: 'The message is queued for delivery.' })
  @HttpCode(200)
  @Post(':message/submit')
  submit(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.messages.submit(call, body);
  }
}
