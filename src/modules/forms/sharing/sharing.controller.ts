import { Controller, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import {
  ApiIdempotency,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  Operation,
} from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { FormErrors } from '../forms.errors.js';
import { FORMS } from '../forms.resource.js';
import { SetFormAccess, ShareForm } from './sharing.dto.js';
import { SharingErrors } from './sharing.errors.js';
import { FormAccessListEnvelope } from './sharing.response.js';
import { FormSharingService } from './sharing.service.js';

const LINK_ERRORS = [
  FORMS.notFound,
  Errors.forbidden,
  FormErrors.archived,
  Errors.invalidId,
  ...IDEMPOTENCY_ERRORS,
];

@Controller('forms/:id')
export class FormSharingController {
  constructor(private readonly sharing: FormSharingService) {}

  @Operation({
    tag: 'forms',
    id: 'shareForm',
    summary: 'Create the share link',
    description:
      'The link opens the form to signed-in members of the workspace. Only this response contains it. An existing link gets the new role and expiry; its token stays and is not shown again.',
    errors: [...LINK_ERRORS, Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiBody({ type: ShareForm, required: false, examples: { example: { value: { role: 'respond' } } } })
  @ApiIdempotency()
  @ApiOkResponse({ type: FORMS.envelopes.item, description: 'The form with its share link.' })
  @HttpCode(200)
  @Post('share')
  share(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(ShareForm) body: Checked<ShareForm>,
  ): Promise<JsonReply> {
    return this.sharing.share(ctx, id, key, body);
  }

  @Operation({
    tag: 'forms',
    id: 'regenerateFormShare',
    summary: 'Replace the share link',
    description: 'The previous link stops working; role and expiry stay.',
    errors: [...LINK_ERRORS, SharingErrors.notShared],
  })
  @ApiIdempotency()
  @ApiOkResponse({ type: FORMS.envelopes.item, description: 'The form with its new share link.' })
  @HttpCode(200)
  @Post('share/regenerate')
  regenerate(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.sharing.regenerate(ctx, id, key);
  }

  @Operation({
    tag: 'forms',
    id: 'revokeFormShare',
    summary: 'Revoke the share link',
    description: 'The link stops working at once. Without a link nothing changes.',
    errors: LINK_ERRORS,
  })
  @ApiIdempotency()
  @ApiOkResponse({ type: FORMS.envelopes.item, description: 'The form without a share link.' })
  @Delete('share')
  revoke(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.sharing.revoke(ctx, id, key);
  }

  @Operation({
    tag: 'forms',
    id: 'listFormAccess',
    summary: 'List the members and groups with a role',
    description: 'For owners and editors.',
    errors: [FORMS.notFound, Errors.forbidden, Errors.invalidId],
  })
  @ApiOkResponse({ type: FormAccessListEnvelope, description: 'All of them, at most 500.' })
  @Get('access')
  list(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply> {
    return this.sharing.list(ctx, id);
  }

  @Operation({
    tag: 'forms',
    id: 'setFormAccess',
    summary: 'Set the members and groups with a role',
    description:
      'Replaces the whole list. Respondents submit, viewers read responses, editors change the form. Only for the owner.',
    errors: [
      FORMS.notFound,
      Errors.forbidden,
      SharingErrors.unknownUser,
      Errors.invalidId,
      Errors.validationFailed,
      ...BODY_ERRORS,
    ],
  })
  @ApiBody({
    type: SetFormAccess,
    examples: {
      example: {
        value: { access: [{ user_id: '01890a5d-ac96-774b-bcce-b302099a8057', role: 'respondent' }] },
      },
    },
  })
  @ApiOkResponse({ type: FormAccessListEnvelope, description: 'The new list.' })
  @Put('access')
  set(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SetFormAccess) body: Checked<SetFormAccess>,
  ): Promise<JsonReply> {
    return this.sharing.set(ctx, id, body);
  }
}
