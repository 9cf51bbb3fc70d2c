import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Requires } from '../../../../platform/context/permission.guard.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import type { JsonReply } from '../../../../platform/http/json-reply.js';
import { QuotaErrors } from '../../../../platform/quotas/quotas.errors.js';
import { FormErrors } from '../../forms.errors.js';
import { DraftForm, ListPresets } from './presets.dto.js';
import { DraftedFormEnvelope, FormPresetListEnvelope } from './presets.response.js';
import { PresetsService } from './presets.service.js';

@ApiTags('forms')
@Controller('forms')
export class FormPresetsController {
  constructor(private readonly presets: PresetsService) {}

  @Endpoint('GET presets', {
    id: 'listFormPresets',
    summary: 'List the presets of forms',
    description: 'Ready-made definitions to start from.',
    response: [FormPresetListEnvelope, 'All presets.'],
  })
  list(@Query() { locale }: ListPresets): JsonReply<FormPresetListEnvelope> {
    return this.presets.list(locale);
  }

  @Endpoint('POST draft', {
    id: 'draftForm',
    summary: 'Create a draft from a preset or by the assistant',
    description: 'The draft passes the same checks as any other and is never published by itself.',
    errors: [QuotaErrors.exceeded, FormErrors.unknownPreset, FormErrors.assistantUnavailable],
    response: [DraftedFormEnvelope, 'The new draft.'],
    status: 201,
    location: true,
    example: { preset_id: 'event-rsvp', language: 'en' },
  })
  @Requires('forms.create')
  draft(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: DraftForm) {
    return this.presets.draft(ctx, key, body);
  }
}
