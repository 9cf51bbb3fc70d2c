import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import {
  ApiIdempotency,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  LOCATION_HEADER,
  Operation,
} from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { FormErrors } from '../forms.errors.js';
import { DraftForm, ListPresets } from './presets.dto.js';
import { DraftedFormEnvelope, FormPresetListEnvelope } from './presets.response.js';
import { PresetsService } from './presets.service.js';

@Controller('forms')
export class FormPresetsController {
  constructor(private readonly presets: PresetsService) {}

  @Operation({
    tag: 'forms',
    id: 'listFormPresets',
    summary: 'List the presets of forms',
    description: 'Ready-made definitions to start from.',
    errors: [Errors.validationFailed],
  })
  @ApiOkResponse({ type: FormPresetListEnvelope, description: 'All presets.' })
  @Get('presets')
  list(@Query() { locale }: ListPresets): JsonReply {
    return this.presets.list(locale);
  }

  @Operation({
    tag: 'forms',
    id: 'draftForm',
    summary: 'Create a draft from a preset or by the assistant',
    description: 'The draft passes the same checks as any other and is never published by itself.',
    errors: [
      FormErrors.unknownPreset,
      FormErrors.assistantUnavailable,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiBody({ type: DraftForm, examples: { example: { value: { preset_id: 'event-rsvp', language: 'en' } } } })
  @ApiIdempotency()
  @ApiResponse({
    status: 201,
    type: DraftedFormEnvelope,
    description: 'The new draft.',
    headers: LOCATION_HEADER,
  })
  @HttpCode(201)
  @Post('draft')
  @Requires('forms.create')
  draft(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: DraftForm,
  ): Promise<JsonReply> {
    return this.presets.draft(ctx, key, body);
  }
}
