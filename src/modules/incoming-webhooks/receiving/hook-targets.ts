import { Injectable } from '@nestjs/common';
import { escapeHtml } from '../../../lib/html/index.js';
import { charactersOf, cutText, filledText } from '../../../lib/text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { fieldError } from '../../../platform/http/errors.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { EventsApi } from '../../calendar/index.js';
import { ChatApi } from '../../chat/index.js';
import { TasksApi } from '../../tasks/index.js';
import type { IncomingWebhook, TargetType } from '../incoming-webhooks.schema.js';
import {
  HookEventPayload,
  HookMessagePayload,
  type HookReceiptResponse,
  HookTaskPayload,
  MAX_TEXT,
} from './payloads.dto.js';
import { composeText } from './slack-text.js';

type Made = Pick<HookReceiptResponse, 'kind' | 'id'>;

const MAX_TITLE = 500;

/** What incoming webhooks write: a message, a task or an event, with the rights of their owner. */
@Injectable()
export class HookTargets {
  constructor(
    private readonly chat: ChatApi,
    private readonly tasks: TasksApi,
    private readonly events: EventsApi,
  ) {}

  /** Whether the user may write to the target now. */
  async isWritable(ctx: RequestContext, type: TargetType, id: string): Promise<boolean> {
    if (type === 'room') return (await this.chat.room(ctx, id)) !== undefined;
    return type === 'task_folder' ? this.tasks.isWritableFolder(ctx, id) : this.events.isWritable(ctx, id);
  }

  /**
   * @param ctx the owner of the incoming webhook
   * @param body parsed JSON
   * @throws ApiError 422 for an invalid payload; errors of the domain of the target
   */
  async make(ctx: RequestContext, hook: IncomingWebhook, body: unknown): Promise<Made> {
    if (hook.target_type === 'room') return this.post(ctx, hook, validated(HookMessagePayload, body));
    return hook.target_type === 'task_folder'
      ? this.createTask(ctx, hook, validated(HookTaskPayload, body))
      : this.createEvent(ctx, hook, validated(HookEventPayload, body));
  }

  private async post(ctx: RequestContext, hook: IncomingWebhook, payload: HookMessagePayload): Promise<Made> {
    const { text, format } = composeText(payload);
    if (filledText(text) === '') throw noText();
    if (text.length > MAX_TEXT)
      throw fieldError('text', 'max_length', `the message must have at most ${MAX_TEXT} characters`);
    const via = { id: hook.id, name: hook.name };
    return { kind: 'message', id: await this.chat.post(ctx, hook.target_id, { body: text, format, via }) };
  }

  private async createTask(
    ctx: RequestContext,
    hook: IncomingWebhook,
    payload: HookTaskPayload,
  ): Promise<Made> {
    const { text, description, ...fields } = payload;
    const { title, rest } = titleOf(fields.title, text);
    const html = [description ?? '', asHtml(rest), asHtml(viaOf(hook))].join('');
    const id = await this.tasks.create(ctx, {
      ...fields,
      title,
      description: html,
      folder_id: hook.target_id,
    });
    return { kind: 'task', id };
  }

  private async createEvent(
    ctx: RequestContext,
    hook: IncomingWebhook,
    payload: HookEventPayload,
  ): Promise<Made> {
    const { text, description, ...fields } = payload;
    const { title, rest } = titleOf(fields.title, text);
    const plain = [description ?? '', rest, viaOf(hook)].filter(Boolean).join('\n\n');
    const id = await this.events.create(ctx, hook.target_id, { ...fields, title, description: plain });
    return { kind: 'event', id };
  }
}

const noText = () => fieldError('text', 'is_not_empty', 'text must not be blank');

/** Names the incoming webhook in what has no field for it. */
const viaOf = ({ name }: IncomingWebhook): string => `via ${name}`;

/** The title, by default the first line of the text; and what remains of the text. @throws ApiError 422 without either */
function titleOf(
  title: string | undefined,
  given: string | null | undefined,
): { title: string; rest: string } {
  const text = given ?? '';
  if (title !== undefined) return { title, rest: text };
  const whole = filledText(text);
  if (whole === '') throw noText();
  const line = (/^[^\r\n]*/.exec(whole)?.[0] ?? '').trim();
  // A longer line stays whole in the description.
  if (charactersOf(line) > MAX_TITLE) return { title: cutText(line, MAX_TITLE), rest: whole };
  return { title: line, rest: whole.slice(line.length).trim() };
}

const asHtml = (text: string): string =>
  text
    .split(/\n{2,}/)
    .filter(Boolean)
    .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll('\n', '<br>')}</p>`)
    .join('');
