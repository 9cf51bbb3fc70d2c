import { Controller, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiQuery } from '@nestjs/swagger';
import { type MailCall, Call, JsonObject } from './mail-call.js';
import { CreateMailbox, UpdateMailbox } from './mail-body.dto.js';
import type { MailReply } from './mail-client.js';
import { MAIL_BODY_ERRORS, MailboxParam, MailOperation } from './mail.docs.js';
import { MailErrors } from './mail.errors.js';
import { CREATE_MAILBOX, UPDATE_MAILBOX } from './mail.examples.js';
import { MailMailbox, MailMailboxCreated, MailMailboxList, MailSuccess } from './mail.response.js';
import { MailService } from './mail.service.js';

/** The mailboxes of the caller's own account, as the mail service has them. */
@Controller('mail/users/me/mailboxes')
export class MailMailboxesController {
  constructor(private readonly mail: MailService) {}

  @MailOperation({
    id: 'listMailboxes',
    summary: 'List your mailboxes',
    description:
      'The other operations ask for the ids it tells: which mailbox is that of the drafts, the sent mail or the trash says `specialUse`. Further query parameters of the mail service pass.',
  })
  @ApiQuery({ name: 'counters', required: false, type: Boolean, description: 'With `total` and `unseen`.' })
  @ApiOkResponse({ type: MailMailboxList, description: 'All of them.' })
  @Get()
  list(@Call() call: MailCall): Promise<MailReply> {
    return this.mail.listMailboxes(call);
  }

  @MailOperation({
    id: 'createMailbox',
    summary: 'Create a mailbox',
    errors: [MailErrors.hiddenNotAllowed, ...MAIL_BODY_ERRORS],
  })
  @ApiBody({ type: CreateMailbox, examples: CREATE_MAILBOX })
  @ApiOkResponse({ type: MailMailboxCreated, description: 'The new mailbox, or its id.' })
  @HttpCode(200)
  @Post()
  create(@Call() call: MailCall, @JsonObject() body: Record<string, unknown>): Promise<MailReply> {
    return this.mail.createMailbox(call, body);
  }

  @MailOperation({ id: 'readMailbox', summary: 'Read a mailbox' })
  @MailboxParam()
  @ApiOkResponse({ type: MailMailbox, description: 'The mailbox, with its counters.' })
  @Get(':mailbox')
  read(@Call() call: MailCall): Promise<MailReply> {
    return this.mail.readMailbox(call);
  }

  @MailOperation({
    id: 'updateMailbox',
    summary: 'Rename or change a mailbox',
    errors: [MailErrors.hiddenNotAllowed, ...MAIL_BODY_ERRORS],
  })
  @MailboxParam()
  @ApiBody({ type: UpdateMailbox, examples: UPDATE_MAILBOX })
  @ApiOkResponse({ type: MailSuccess, description: 'Done.' })
  @Put(':mailbox')
  update(@Call() call: MailCall, @JsonObject() body: Record<string, unknown>): Promise<MailReply> {
    return this.mail.updateMailbox(call, body);
  }

  @MailOperation({ id: 'deleteMailbox', summary: 'Delete a mailbox with its messages' })
  @MailboxParam()
  @ApiOkResponse({ type: MailSuccess, description: 'Done.' })
  @Delete(':mailbox')
  delete(@Call() call: MailCall): Promise<MailReply> {
    return this.mail.deleteMailbox(call);
  }
}
