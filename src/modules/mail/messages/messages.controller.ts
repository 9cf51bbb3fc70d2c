import { Controller, Delete, Get, HttpCode, Injectable, Post, Put, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { booleanOf, type Fields, isFields, messageListQuery, pick } from '../input/fields.js';
import { Call, JsonObject, type MailCall, messagePath, messagesPath } from '../mail-call.js';
import { forwardReply, MailClient, type MailReply, type MailSession } from '../mail-client.js';
import { MailExceptionFilter } from '../mail-exception.filter.js';
import {
  CREATE_MESSAGE,
  MAIL_BODY_ERRORS,
  MailboxParam,
  MailOperation,
  MESSAGE_LIMIT,
  MessageListParams,
  MessageParam,
  SUBMIT_MESSAGE,
  UPDATE_MESSAGE,
  UPDATE_MESSAGES,
} from '../mail.docs.js';
import { NewMessage, SubmitMessage, UpdateMessage, UpdateMessages } from '../mail.dto.js';
import {
  MailBulkResult,
  MailMessage,
  MailMessageCreated,
  MailMessageList,
  MailSubmission,
  MailSuccess,
} from '../mail.response.js';
import { extendJson, withUnseen } from '../upstream-response.js';
import { FLAGS, splitFlags } from './bulk.js';
import { MailMoves } from './mail-moves.js';
import { messageFields, MessageWriter } from './message-writer.js';

/** The message routes: translates the fields and forwards the response. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly client: MailClient,
    private readonly writer: MessageWriter,
    private readonly moves: MailMoves,
  ) {}

  list(call: MailCall): Promise<MailReply> {
    const path = messagesPath(call.target.mailbox);
    const query = messageListQuery(call.target.query);
    return this.client.runAs(call, async (session) =>
      forwardReply(withUnseen(await session.json({ method: 'GET', path, query }))),
    );
  }

  create(call: MailCall, body: Fields): Promise<MailReply> {
    const fields = messageFields(body);
    return this.client.runAs(call, async (session) =>
      forwardReply(await this.writer.create(session, call.target.mailbox, fields)),
    );
  }

  read(call: MailCall): Promise<MailReply> {
    return this.client.runAs(call, async (session) => {
      const response = await session.json({ method: 'GET', path: messagePath(call.target) });
      // The embedded service includes `unseen`.
      if (response.status >= 300 || response.text?.includes('"unseen":')) return forwardReply(response);
      const seen = isFields(response.value) ? response.value['seen'] : undefined;
      return forwardReply(typeof seen === 'boolean' ? extendJson(response, { unseen: !seen }) : response);
    });
  }

  /** Changes flags of a message, or moves it. */
  update(call: MailCall, body: Fields): Promise<MailReply> {
    return this.client.runAs(call, async (session) => {
      const path = messagePath(call.target);
      const [first = {}, ...others] = splitFlags(await changesOf(session, path, body));
      let response = await session.json({ method: 'PUT', path, body: first });
      for (const change of others) {
        if (response.status >= 300) break;
        response = await session.json({ method: 'PUT', path, body: change });
      }
      await this.moves.record(call.ctx, call.target.mailbox, response.value);
      return forwardReply(response);
    });
  }

  delete(call: MailCall): Promise<MailReply> {
    return this.client.forward(call, { method: 'DELETE', path: messagePath(call.target) });
  }

  submit(call: MailCall, body: Fields): Promise<MailReply> {
    const path = [...messagePath(call.target), 'submit'];
    return this.client.forward(call, { method: 'POST', path, body: pick(body, ['deleteFiles', 'sendTime']) });
  }
}

/**
 * The changed fields of a message. Where `seen` and `unseen` contradict each other, the client has changed one of them and sent
 * back the other as it was read.
 */
async function changesOf(
  session: MailSession,
  path: readonly (string | number)[],
  body: Fields,
): Promise<Fields> {
  const fields = pick(body, [...FLAGS, 'moveTo']);
  const unseen = booleanOf(body['unseen']);
  if (!Object.hasOwn(fields, 'seen'))
    return { ...fields, ...(unseen === undefined ? pick(body, ['unseen']) : { seen: !unseen }) };
  if (unseen === undefined || booleanOf(fields['seen']) !== unseen) return fields;
  const message = await (await session.json({ method: 'GET', path })).readWhole();
  const before = isFields(message) ? booleanOf(message['seen']) : undefined;
  return before === undefined ? fields : { ...fields, seen: !before };
}

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
