import { Controller, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { BodyLimit } from '../../platform/http/body.guard.js';
import { NewMessage, SubmitMessage, UpdateMessage, UpdateMessages } from './mail-body.dto.js';
import { type MailCall, Call, JsonObject } from './mail-call.js';
import type { MailReply } from './mail-client.js';
import {
  MAIL_BODY_ERRORS,
  MailboxParam,
  MailOperation,
  MessageListParams,
  MessageParam,
} from './mail.docs.js';
import { CREATE_MESSAGE, SUBMIT_MESSAGE, UPDATE_MESSAGE, UPDATE_MESSAGES } from './mail.examples.js';
import { MailMoves } from './mail-moves.js';
import {
  MailBulkResult,
  MailMessage,
  MailMessageCreated,
  MailMessageList,
  MailSubmission,
  MailSuccess,
} from './mail.response.js';
import { MailService } from './mail.service.js';

/** A message with its attachments as base64 within JSON, bytes. */
export const MESSAGE_LIMIT = 40 * 1024 * 1024;

/** The messages of the caller's own mailboxes. */
@Controller('mail/users/me/mailboxes/:mailbox/messages')
export class MailMessagesController {
  constructor(
    private readonly mail: MailService,
    private readonly moves: MailMoves,
  ) {}

  @MailOperation({
    id: 'listMessages',
    summary: 'List the messages of a mailbox',
    description:
      'The next page is asked for with `cursor`, the page before with `direction=previous` besides.',
  })
  @MessageListParams()
  @ApiOkResponse({ type: MailMessageList, description: 'A page of messages.' })
  @Get()
  list(@Call() call: MailCall): Promise<MailReply> {
    return this.mail.listMessages(call);
  }

  @MailOperation({
    id: 'createMessage',
    summary: 'Create a message',
    description: 'Up to 40 MiB of JSON. To send it, create it as a draft and submit that.',
    errors: MAIL_BODY_ERRORS,
  })
  @MailboxParam()
  @ApiBody({ type: NewMessage, examples: CREATE_MESSAGE })
  @ApiOkResponse({ type: MailMessageCreated, description: 'The message is stored.' })
  @BodyLimit(MESSAGE_LIMIT)
  @HttpCode(200)
  @Post()
  create(@Call() call: MailCall, @JsonObject() body: Record<string, unknown>): Promise<MailReply> {
    return this.mail.createMessage(call, body);
  }

  @MailOperation({
    id: 'updateMessages',
    summary: 'Mark, move or restore messages',
    description:
      'What is moved has another id in its new mailbox; the answer pairs the old ids with the new.',
    errors: MAIL_BODY_ERRORS,
  })
  @MailboxParam()
  @ApiBody({ type: UpdateMessages, examples: UPDATE_MESSAGES })
  @ApiOkResponse({ type: MailBulkResult, description: 'How many were marked, or where each was moved.' })
  @Put()
  updateMany(@Call() call: MailCall, @JsonObject() body: Record<string, unknown>): Promise<MailReply> {
    return this.moves.update(call, body);
  }

  @MailOperation({ id: 'readMessage', summary: 'Read a message' })
  @MessageParam()
  @ApiOkResponse({ type: MailMessage, description: 'The message.' })
  @Get(':message')
  read(@Call() call: MailCall): Promise<MailReply> {
    return this.mail.readMessage(call);
  }

  @MailOperation({ id: 'updateMessage', summary: 'Mark or move a message', errors: MAIL_BODY_ERRORS })
  @MessageParam()
  @ApiBody({ type: UpdateMessage, examples: UPDATE_MESSAGE })
  @ApiOkResponse({ type: MailBulkResult, description: 'Done.' })
  @Put(':message')
  update(@Call() call: MailCall, @JsonObject() body: Record<string, unknown>): Promise<MailReply> {
    return this.mail.updateMessage(call, body);
  }

  @MailOperation({ id: 'deleteMessage', summary: 'Delete a message for good' })
  @MessageParam()
  @ApiOkResponse({ type: MailSuccess, description: 'Done.' })
  @Delete(':message')
  delete(@Call() call: MailCall): Promise<MailReply> {
    return this.mail.deleteMessage(call);
  }

  @MailOperation({
    id: 'submitMessage',
    summary: 'Send a draft',
    description:
      'It is queued for delivery and moves to the sent mail. A failing delivery is reported by mail.',
    errors: MAIL_BODY_ERRORS,
  })
  @MessageParam()
  @ApiBody({ type: SubmitMessage, required: false, examples: SUBMIT_MESSAGE })
  @ApiOkResponse({ type: MailSubmission, description: 'It is on its way.' })
  @HttpCode(200)
  @Post(':message/submit')
  submit(@Call() call: MailCall, @JsonObject() body: Record<string, unknown>): Promise<MailReply> {
    return this.mail.submitMessage(call, body);
  }
}
