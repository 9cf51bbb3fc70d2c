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

/** The members of a payload for Slack's incoming webhooks that have text. Parts of other shapes are ignored, as Slack's own fields are many. */
export interface SlackPayload {
  text?: string | null;
  /** False means that the text has no markup. */
  mrkdwn?: boolean | null;
  blocks?: readonly unknown[] | null;
  attachments?: readonly unknown[] | null;
}

export interface ComposedText {
  text: string;
  format: 'plain' | 'markdown';
}

type Part = Record<string, unknown>;

/**
 * The text of a message as Slack shows it: the blocks, or the text where there are none, then the attachments. Slack's markup becomes
 * CommonMark (docs.slack.dev, "Formatting message text").
 */
export function composeText(payload: SlackPayload): ComposedText {
  const mrkdwn = payload.mrkdwn ?? true;
  const shown = linesOf(payload.blocks, blockLines);
  const body = shown.length > 0 ? shown : payload.text ? [payload.text] : [];
  const attached = linesOf(payload.attachments, attachmentLines);
  const whole = [...body, ...attached].join('\n');
  return mrkdwn || shown.length > 0 || attached.length > 0
    ? { text: toCommonMark(whole), format: 'markdown' }
    : { text: withoutEntities(whole), format: 'plain' };
}

const linesOf = (parts: unknown, textOfPart: (part: Part) => string[]): string[] =>
  Array.isArray(parts) ? parts.filter(isPart).flatMap(textOfPart).filter(Boolean) : [];

function blockLines(block: Part): string[] {
  const own = textOf(block['text']);
  if (block['type'] === 'header') return own === '' ? [] : [`*${own}*`];
  return [own, ...textsOf(block['fields']), textsOf(block['elements']).join(' ')];
}

function attachmentLines(attachment: Part): string[] {
  const { pretext, title, title_link, text, fallback, fields, author_name, author_link, blocks, footer } =
    attachment;
  const values = linesOf(fields, (field) => [
    [textOf(field['title']), textOf(field['value'])].filter(Boolean).join(': '),
  ]);
  const lines = [
    textOf(pretext),
    linked(author_name, author_link),
    linked(title, title_link),
    textOf(text),
    ...values,
    ...linesOf(blocks, blockLines),
    textOf(footer),
  ].filter(Boolean);
  return lines.length > 0 ? lines : [textOf(fallback)];
}

function linked(label: unknown, link: unknown): string {
  const [text, target] = [textOf(label), textOf(link)];
  return text === '' || target === '' ? text : `<${target}|${text}>`;
}

const isPart = (part: unknown): part is Part => typeof part === 'object' && part !== null;

/** A text, a number or boolean, or the text of a text object. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isPart(value) && typeof value['text'] === 'string' ? value['text'] : '';
}

const textsOf = (values: unknown): string[] =>
  Array.isArray(values) ? values.map(textOf).filter(Boolean) : [];

const CODE = /(```[^]*?```|`[^`\n]+`)/;

function toCommonMark(text: string): string {
  return text
    .split(CODE)
    .map((piece, n) => (n % 2 === 1 ? withoutEntities(piece) : withCommonMarks(piece)))
    .join('');
}

/** CommonMark reads the entities that Slack requires, but not in code. */
const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const withoutEntities = (text: string): string =>
  text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] as string);

const withCommonMarks = (text: string): string =>
  text
    .replace(/<([^<>\n]+)>/g, (_, inner: string) => reference(inner))
    .replace(/(?<![\w*])\*(?![\s*])([^*\n]+)(?<!\s)\*(?![\w*])/g, '**$1**')
    .replace(/(?<![\w~])~(?![\s~])([^~\n]+)(?<!\s)~(?![\w~])/g, '~~$1~~');

/** Programs that read a part of CommonMark do not know a destination in angle brackets, which one with spaces or parentheses needs. */
const destinationOf = (target: string): string => (/[\s()\\]/.test(target) ? `<${target}>` : target);

/** A link, or a mention, whose names are those of Slack. */
function reference(inner: string): string {
  const separator = inner.indexOf('|');
  const [target, label] =
    separator < 0 ? [inner, ''] : [inner.slice(0, separator), inner.slice(separator + 1)];
  if (/^(?:https?:|mailto:|tel:)/i.test(target))
    return label === '' ? `<${target}>` : `[${label}](${destinationOf(target)})`;
  if (/^[@#]/.test(target)) return label === '' ? target : `${target.charAt(0)}${label.replace(/^[@#]/, '')}`;
  if (target.startsWith('!')) return label === '' ? `@${target.slice(1)}` : label;
  return `<${inner}>`;
}

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
