import { Injectable } from '@nestjs/common';
import type { IdempotencyKey } from '../../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { fieldError } from '../../../../platform/http/errors.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { FormDrafts } from '../form-drafts.js';
import { FormErrors } from '../../forms.errors.js';
import { presetOf, presetsIn } from '../preset-library.js';
import { Assistant } from './assistant.js';
import type { DraftForm } from './presets.dto.js';
import type { FormPresetListEnvelope, DraftedFormEnvelope } from './presets.response.js';

/** Ready-made forms, and drafts from them or by the assistant. */
@Injectable()
export class PresetsService {
  constructor(
    private readonly drafts: FormDrafts,
    private readonly assistant: Assistant,
  ) {}

  list(locale: string | undefined): JsonReply<FormPresetListEnvelope> {
    return JsonReply.of({ presets: presetsIn(locale) });
  }

  /** @throws ApiError 422 `unknown_preset`, `validation_failed` unless one source is named; 503 `assistant_unavailable` */
  async draft(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: DraftForm,
  ): Promise<JsonReply<DraftedFormEnvelope>> {
    const { preset_id: id, prompt, language, title } = input;
    if ((id === undefined) === (prompt === undefined)) throw notOneSource();
    const form = id === undefined ? await this.assistant.draft(prompt!, language) : presetOf(id, language);
    if (!form) throw FormErrors.unknownPreset.with();
    const { description, definition } = form;
    const source = id === undefined ? 'assistant' : 'preset';
    const values = { title: title ?? form.title, description, definition };
    return this.drafts.create<{ source: string }>(ctx, key, values, { source });
  }
}

const notOneSource = () =>
  fieldError('preset_id', 'one_source', 'preset_id or prompt must be given, not both');
