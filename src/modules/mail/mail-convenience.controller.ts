import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { WithoutTenant } from '../../platform/context/access.decorators.js';
import { ApiFile } from '../../platform/http/api-docs.js';
import { BodyLimit } from '../../platform/http/body.guard.js';
import { Errors } from '../../platform/http/errors.js';
import { MailAttachmentsService } from './mail-attachments.service.js';
import { NewDraft } from './mail-body.dto.js';
import { type MailCall, Call, JsonObject } from './mail-call.js';
import type { MailReply } from './mail-client.js';
import { MAIL_BODY_ERRORS, MailOperation } from './mail.docs.js';
import { MailDraftsService } from './mail-drafts.service.js';
import { DraftMailbox, ReadAttachment, SubmitDraft } from './mail.dto.js';
import { MailErrors } from './mail.errors.js';
import { CREATE_DRAFT, SUBMIT_DRAFT } from './mail.examples.js';
import { MESSAGE_LIMIT } from './mail-messages.controller.js';
import { MailDraft, MailSubmission } from './mail.response.js';

/** Routes of our own beside the mail service's tree. */
@Controller('mail')
export class MailConvenienceController {
  constructor(
    private readonly drafts: MailDraftsService,
    private readonly attachments: MailAttachmentsService,
  ) {}

  @MailOperation({
    id: 'createDraft',
    summary: 'Create a message, and remember its recipients',
    description:
      '`mailbox` is the id of your mailbox *Drafts*, as `GET /mail/users/me/mailboxes` tells it. Stored as a draft unless `draft` is false; only drafts can be submitted. Recipients are remembered for autocomplete. Up to 40 MiB of JSON.',
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
    @JsonObject() body: Record<string, unknown>,
    @Body() { mailbox }: DraftMailbox,
  ): Promise<MailReply> {
    return this.drafts.create(call, mailbox.toLowerCase(), body);
  }

  @MailOperation({
    id: 'submitDraft',
    summary: 'Send a draft, and remember its recipients',
    errors: MAIL_BODY_ERRORS,
  })
  @ApiBody({ type: SubmitDraft, examples: SUBMIT_DRAFT })
  @ApiOkResponse({ type: MailSubmission, description: 'It is on its way.' })
  @HttpCode(200)
  @Post('draft/submit')
  submit(@Call() call: MailCall, @JsonObject() _: object, @Body() body: SubmitDraft): Promise<MailReply> {
    return this.drafts.submit(call, body);
  }

  @MailOperation({
    id: 'readMailAttachment',
    summary: 'Download an attachment',
    errors: [Errors.validationFailed],
  })
  @ApiFile('application/octet-stream', 'Its bytes, under the type its sender gave it where that is harmless.')
  @Get('attachment')
  attachment(@Call() call: MailCall, @Query() query: ReadAttachment): Promise<MailReply> {
    return this.attachments.read(call, query);
  }
}
