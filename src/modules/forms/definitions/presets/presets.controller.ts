import { Body, Controller, Injectable, Logger, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Config } from '../../../../config/config.js';
import {
  checkComplete,
  checkDefinition,
  type Definition,
  QUESTION_TYPES,
} from '../../../../lib/forms/index.js';
import { Idempotency, type IdempotencyKey } from '../../../../platform/concurrency/idempotency.js';
import { Requires } from '../../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { fieldError } from '../../../../platform/http/errors.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { QuotaErrors } from '../../../../platform/quotas/quotas.dto.js';
import { FormErrors } from '../../forms.resource.js';
import { FormDrafts } from '../forms.service.js';
import { presetOf, presetsIn } from '../preset-library.js';
import { DraftedFormEnvelope, DraftForm, FormPresetListEnvelope, ListPresets } from './presets.dto.js';

/** The time from the request to the end of the response. */
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 1024 * 1024;

export interface AssistantForm {
  title: string;
  description: string;
  definition: Definition;
}

const INSTRUCTIONS = `You design forms. Reply with one JSON object and nothing else:
{"title": string, "description": string, "definition": {"sections": [{"id", "title", "questions": [{"id", "type", "title",
"help", "required", "options": [{"id", "label"}], "rows": [{"id", "label"}]}]}], "logic": []}}
Types: ${QUESTION_TYPES.join(', ')}. Choice types, ranking and matrix need options; matrix needs rows. Ids are unique and consist of
letters, digits and hyphens.`;

/**
 * Drafts of forms by a language model with the chat interface of OpenAI (`POST <ASSISTANT_URL>/chat/completions`). Its output
 * is untrusted: it passes the same checks as the input of users, and it is never published.
 */
@Injectable()
export class Assistant {
  /** Tests shorten it. */
  timeoutMs = TIMEOUT_MS;
  private readonly logger = new Logger(Assistant.name);

  constructor(private readonly config: Config) {}

  /** @throws ApiError 503 `assistant_unavailable` without configuration, on failures and for unusable output */
  async draft(prompt: string, language: string | undefined): Promise<AssistantForm> {
    const { ASSISTANT_URL: url } = this.config;
    if (url === undefined) throw FormErrors.assistantUnavailable.with();
    try {
      return formOf(await this.complete(url.replace(/\/+$/, ''), prompt, language));
    } catch (error) {
      this.logger.warn({ err: error }, 'the assistant has returned no usable form');
      throw FormErrors.assistantUnavailable.with({ headers: { 'Retry-After': '30' } });
    }
  }

  private async complete(url: string, prompt: string, language = 'en'): Promise<string> {
    const { ASSISTANT_API_KEY: key, ASSISTANT_MODEL: model } = this.config;
    const messages = [
      { role: 'system', content: INSTRUCTIONS },
      { role: 'user', content: `Language: ${language}\n\n${prompt}` },
    ];
    // Most installations have no assistant, and do not load it.
    const { request } = await import('undici');
    const response = await request(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, messages, response_format: { type: 'json_object' } }),
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    const text = await limitedText(response.body);
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    const { choices } = JSON.parse(text) as { choices?: { message?: { content?: unknown } }[] };
    const content = choices?.[0]?.message?.content;
    if (typeof content !== 'string') throw new Error('the response has no message');
    return content;
  }
}

async function limitedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('the response is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function formOf(content: string): AssistantForm {
  const plain = JSON.parse(content) as Record<string, unknown> | null;
  const { definition, problems } = checkDefinition(plain?.['definition']);
  const [error] = [...problems, ...(problems.length === 0 ? checkComplete(definition) : [])];
  if (error) throw new Error(`invalid definition: ${error.message.slice(0, 200)}`);
  return {
    title: lineOf(plain?.['title'], 300) || 'Form',
    description: lineOf(plain?.['description'], 2000),
    definition,
  };
}

/** One line of untrusted text. */
const lineOf = (value: unknown, max: number): string =>
  typeof value === 'string'
    ? value
        .toWellFormed()
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .trim()
        .slice(0, max)
        .toWellFormed()
    : '';

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
