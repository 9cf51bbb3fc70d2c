/** The members of a payload for Slack's incoming webhooks that have text. Parts of other shapes are ignored, as Slack's own fields are many. */
export interface SlackPayload {
  text?: string | null;
  /** False: the text has no markup. */
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

/** A link, or a mention, whose names are those of Slack. */
function reference(inner: string): string {
  const separator = inner.indexOf('|');
  const [target, label] =
    separator < 0 ? [inner, ''] : [inner.slice(0, separator), inner.slice(separator + 1)];
  if (/^(?:https?:|mailto:|tel:)/i.test(target))
    return label === '' ? `<${target}>` : `[${label}](<${target}>)`;
  if (/^[@#]/.test(target)) return label === '' ? target : `${target.charAt(0)}${label.replace(/^[@#]/, '')}`;
  if (target.startsWith('!')) return label === '' ? `@${target.slice(1)}` : label;
  return `<${inner}>`;
}
