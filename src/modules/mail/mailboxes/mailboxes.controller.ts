import { Controller, Delete, Get, HttpCode, Post, Put, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiQuery } from '@nestjs/swagger';
import { QUOTAS, shown } from '../../../platform/quotas/quotas.js';
import type { Fields } from '../input/fields.js';
import { Call, JsonObject, type MailCall } from '../mail-call.js';
import type { MailReply } from '../mail-client.js';
import { MailExceptionFilter } from '../mail-exception.filter.js';
import { MAIL_BODY_ERRORS, MailboxParam, MailOperation } from '../mail.docs.js';
import { CreateMailbox, UpdateMailbox } from '../mail.dto.js';
import { MailErrors } from '../mail.errors.js';
import { CREATE_MAILBOX, UPDATE_MAILBOX } from '../mail.examples.js';
import { MailMailbox, MailMailboxCreated, MailMailboxList, MailSuccess } from '../mail.response.js';
import { MailboxesService } from './mailboxes.service.js';

/** The mailboxes of the caller's own mail account. */
@UseFilters(MailExceptionFilter)
@Controller('mail/users/me/mailboxes')
export class MailboxesController {
  constructor(private readonly mailboxes: MailboxesService) {}

  @MailOperation({
    id: 'listMailboxes',
    summary: 'List your mailboxes',
    description:
      'Other operations need the mailbox ids of this list; `specialUse` marks drafts, sent mail, junk and trash. Further query parameters are forwarded to the mail service.',
  })
  @ApiQuery({
    name: 'counters',
    required: false,
    type: Boolean,
    description: 'Include `total` and `unseen`.',
  })
  @ApiOkResponse({ type: MailMailboxList, description: 'All mailboxes.' })
  @Get()
  list(@Call() call: MailCall): Promise<MailReply> {
    return this.mailboxes.list(call);
  }

  @MailOperation({
    id: 'createMailbox',
    summary: 'Create a mailbox',
    description: `A user has at most ${shown(QUOTAS.user.mailboxes)} mailboxes (400 \`CANNOT\`).`,
    errors: [MailErrors.hiddenNotAllowed, ...MAIL_BODY_ERRORS],
  })
  @ApiBody({ type: CreateMailbox, examples: CREATE_MAILBOX })
  @ApiOkResponse({ type: MailMailboxCreated, description: 'The new mailbox, or its id.' })
  @HttpCode(200)
  @Post()
  create(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.mailboxes.create(call, body);
  }

  @MailOperation({ id: 'readMailbox', summary: 'Read a mailbox' })
  @MailboxParam()
  @ApiOkResponse({ type: MailMailbox, description: 'The mailbox with its counters.' })
  @Get(':mailbox')
  read(@Call() call: MailCall): Promise<MailReply> {
    return this.mailboxes.read(call);
  }

  @MailOperation({
    id: 'updateMailbox',
    summary: 'Rename or change a mailbox',
    errors: [MailErrors.hiddenNotAllowed, ...MAIL_BODY_ERRORS],
  })
  @MailboxParam()
  @ApiBody({ type: UpdateMailbox, examples: UPDATE_MAILBOX })
  @ApiOkResponse({ type: MailSuccess, description: 'The mailbox was changed.' })
  @Put(':mailbox')
  update(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.mailboxes.update(call, body);
  }

  @MailOperation({
    id: 'deleteMailbox',
    summary: 'Delete a mailbox with its messages',
    description:
      'A mailbox with other mailboxes below it is not deleted (400 `MailboxHasChildrenError`): delete or move these first.',
  })
  @MailboxParam()
  @ApiOkResponse({ type: MailSuccess, description: 'The mailbox was deleted.' })
  @Delete(':mailbox')
  delete(@Call() call: MailCall): Promise<MailReply> {
    return this.mailboxes.delete(call);
  }
}
