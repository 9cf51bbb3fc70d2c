import { Body, Controller, Get, HttpCode, Post, Query, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { WithoutTenant } from '../../../../platform/context/access.decorators.js';
import { ApiFile, STORED_FILE_TYPES } from '../../../../platform/http/api-docs.js';
import { BodyLimit } from '../../../../platform/http/body/body-limits.js';
import { Errors } from '../../../../platform/http/errors.js';
import type { Fields } from '../../input/fields.js';
import { Call, JsonObject, type MailCall } from '../../mail-call.js';
import type { MailReply } from '../../mail-client.js';
import { MailExceptionFilter } from '../../mail-exception.filter.js';
import { MAIL_BODY_ERRORS, MailOperation, MESSAGE_LIMIT } from '../../mail.docs.js';
import { NewDraft } from '../../mail.dto.js';
import { MailErrors } from '../../mail.errors.js';
import { CREATE_DRAFT, SUBMIT_DRAFT } from '../../mail.examples.js';
import { MailDraft, MailSubmission } from '../../mail.response.js';
import { AttachmentsService } from './attachments.service.js';
import { DraftMailbox, ReadAttachment, SubmitDraft } from './drafts.dto.js';
import { DraftsService } from './drafts.service.js';

/** The convenience routes: they do not exist at the mail service. */
@UseFilters(MailExceptionFilter)
@Controller('mail')
export class DraftsController {
  constructor(
    private readonly drafts: DraftsService,
    private readonly attachments: AttachmentsService,
  ) {}

  @MailOperation({
    id: 'createDraft',
    summary: 'Create a message and record its recipients',
    description:
      '`mailbox` is the id of your mailbox *Drafts*, from `GET /mail/users/me/mailboxes`. The message is stored as a draft unless `draft` is false; only drafts can be submitted. Recipients are recorded for autocomplete. Up to 40 MiB of JSON.',
    errors: [MailErrors.tenantRequired, ...MAIL_BODY_ERRORS],
  })
  @ApiBody({ type: NewDraft, examples: CREATE_DRAFT })
  @ApiOkResponse({ type: MailDraft, description: 'The message is stored.' })
  @WithoutTenant(MailErrors.tenantRequired)
  @BodyLimit(MESSAGE_LIMIT)
  @HttpCode(200)
  @Post('draft')
  create(
    @Call() call: MailCall,
    @JsonObject() body: Fields,
    @Body() { mailbox }: DraftMailbox,
  ): Promise<MailReply> {
    return this.drafts.create(call, mailbox.toLowerCase(), body);
  }

  @MailOperation({
    id: 'submitDraft',
    summary: 'Send a draft and record its recipients',
    errors: MAIL_BODY_ERRORS,
  })
  @ApiBody({ type: SubmitDraft, examples: SUBMIT_DRAFT })
  @ApiOkResponse({ type: MailSubmission, description: 'The message is queued for delivery.' })
  @HttpCode(200)
  @Post('draft/submit')
  submit(@Call() call: MailCall, @JsonObject() _: Fields, @Body() body: SubmitDraft): Promise<MailReply> {
    return this.drafts.submit(call, body);
  }

  @MailOperation({
    id: 'readMailAttachment',
    summary: 'Download an attachment',
    errors: [Errors.validationFailed],
  })
  @ApiFile(STORED_FILE_TYPES, 'The content, under the declared media type where that is harmless.')
  @Get('attachment')
  attachment(@Call() call: MailCall, @Query() query: ReadAttachment): Promise<MailReply> {
    return this.attachments.read(call, query);
  }
}
