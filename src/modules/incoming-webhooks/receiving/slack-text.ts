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
 * CommonMark, and what Slack shows literally is escaped (docs.slack.dev, "Formatting message text").
 */
export function composeText(payload: SlackPayload): ComposedText {
  const hasMarkup = payload.mrkdwn ?? true;
  const shown = linesOf(payload.blocks, blockLines);
  const attached = linesOf(payload.attachments, attachmentLines);
  if (!hasMarkup && shown.length === 0 && attached.length === 0)
    return { text: withoutEntities(payload.text ?? ''), format: 'plain' };
  const own = payload.text ? [hasMarkup ? toCommonMark(payload.text) : toLiteral(payload.text)] : [];
  const lines = [...(shown.length > 0 ? shown : own), ...attached];
  return { text: withLineBreaks(lines.join('\n')), format: 'markdown' };
}

const linesOf = (parts: unknown, textOfPart: (part: Part) => string[]): string[] =>
  Array.isArray(parts) ? parts.filter(isPart).flatMap(textOfPart).filter(Boolean) : [];

function blockLines(block: Part): string[] {
  if (block['type'] === 'header') {
    const own = toLiteral(textOf(block['text']));
    return own === '' ? [] : [`**${own}**`];
  }
  return [markedUp(block['text']), ...textsOf(block['fields']), textsOf(block['elements']).join(' ')];
}

/** Slack reads markup in `pretext`, `text` and the values of fields; the other members are shown literally. */
function attachmentLines(attachment: Part): string[] {
  const { pretext, title, title_link, text, fallback, fields, author_name, author_link, blocks, footer } =
    attachment;
  const values = linesOf(fields, (field) => [
    [toLiteral(textOf(field['title'])), markedUp(field['value'])].filter(Boolean).join(': '),
  ]);
  const lines = [
    markedUp(pretext),
    linked(author_name, author_link),
    linked(title, title_link),
    markedUp(text),
    ...values,
    ...linesOf(blocks, blockLines),
    toLiteral(textOf(footer)),
  ].filter(Boolean);
  return lines.length > 0 ? lines : [toLiteral(textOf(fallback))];
}

function linked(label: unknown, link: unknown): string {
  const [text, target] = [textOf(label), textOf(link)];
  if (text === '' || !isAddress(target)) return toLiteral(text);
  return `[${toLiteral(text.replaceAll('\n', ' '))}](${destinationOf(target)})`;
}

const isPart = (part: unknown): part is Part => typeof part === 'object' && part !== null;

/** A text, a number or boolean, or the text of a text object. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return isPart(value) && typeof value['text'] === 'string' ? value['text'] : '';
}

/** CommonMark of a text, or of a text object: `plain_text` has no markup. */
const markedUp = (value: unknown): string =>
  isPart(value) && value['type'] === 'plain_text' ? toLiteral(textOf(value)) : toCommonMark(textOf(value));

const textsOf = (values: unknown): string[] =>
  Array.isArray(values) ? values.map(markedUp).filter(Boolean) : [];

/** Control characters stand for what must not be escaped: texts have none. */
const [HELD, BOLD, STRUCK, ITALIC] = ['\u0000', '\u0001', '\u0002', '\u0003'];
const MARKS: Readonly<Record<string, string>> = { [BOLD]: '**', [STRUCK]: '~~', [ITALIC]: '_' };
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0003]/g;
// oxlint-disable-next-line no-control-regex
const MARK = /[\u0001-\u0003]/g;
// oxlint-disable-next-line no-control-regex
const HELD_PIECE = /\u0000(\d+)\u0000/g;

/** Code, a reference in angle brackets, or an address. */
const PIECES = /```([^]*?)```|(`[^`\n]+`)|<([^<>\n]+)>|(https?:\/\/[^\s<>|`]+)/g;
const ADDRESSES = /()()()(https?:\/\/[^\s<>|`]+)/g;

/** Slack's markup as CommonMark. */
function toCommonMark(text: string): string {
  return withHeld(text, PIECES, (given) => {
    const marked = given
      .replace(/(?<![\w*])\*(?![\s*])([^*\n]+)(?<!\s)\*(?![\w*])/g, `${BOLD}$1${BOLD}`)
      .replace(/(?<![\w~])~(?![\s~])([^~\n]+)(?<!\s)~(?![\w~])/g, `${STRUCK}$1${STRUCK}`)
      .replace(/(?<![\w_])_(?![\s_])((?:[^_\n]|(?<=\w)_(?=\w))+)(?<!\s)_(?![\w_])/g, `${ITALIC}$1${ITALIC}`);
    let isQuote = false;
    return marked
      .split('\n')
      .map((line) => {
        const [, sign = ''] = /^(>>>|>)/.exec(line) ?? [];
        isQuote ||= sign === '>>>';
        return isQuote || sign !== '' ? `> ${escaped(line.slice(sign.length).trimStart())}` : escaped(line);
      })
      .join('\n');
  });
}

/** A text without markup as CommonMark. */
const toLiteral = (text: string): string =>
  withHeld(text, ADDRESSES, (given) => given.split('\n').map(escaped).join('\n'));

/** Changes the text between pieces that CommonMark reads as they are. */
function withHeld(text: string, pieces: RegExp, change: (text: string) => string): string {
  const held: string[] = [];
  const hold = (piece: string): string => `${HELD}${held.push(piece) - 1}${HELD}`;
  const without = text
    .replace(CONTROLS, '')
    .replace(pieces, (whole, block, span, inner, address, at: number) => {
      if (block !== undefined) return hold(codeBlock(block, text, at, at + whole.length));
      if (span !== undefined) return hold(withoutEntities(span));
      if (inner !== undefined) return hold(reference(inner));
      return heldAddress(address, hold);
    });
  return change(without)
    .replace(MARK, (mark) => MARKS[mark] as string)
    .replace(HELD_PIECE, (_, n: string) => held[Number(n)] as string);
}

/** Code of several lines stands on lines of its own: CommonMark would join them, and hide what follows the fence. */
function codeBlock(content: string, text: string, from: number, to: number): string {
  const code = withoutEntities(content);
  if (!code.includes('\n')) return `\`\`\`${code}\`\`\``;
  const before = from === 0 || text[from - 1] === '\n' ? '' : '\n';
  const after = to === text.length || text[to] === '\n' ? '' : '\n';
  return `${before}\`\`\`\n${code.replace(/^\n/, '').replace(/\n$/, '')}\n\`\`\`${after}`;
}

/** An address with characters of markup is an autolink, in which CommonMark reads none. */
function heldAddress(address: string, hold: (piece: string) => string): string {
  let end = address.length;
  while (end > 0 && '*_~.,;:!?)\'"]'.includes(address[end - 1] as string)) end -= 1;
  const [link, rest] = [address.slice(0, end), address.slice(end)];
  return (/[*_~[\]\\]/.test(link) ? hold(`<${link}>`) : link) + rest;
}

/** Escapes what CommonMark reads as markup in a line. A mark that begins and does not end, and one between letters, is none. */
const escaped = (line: string): string =>
  line
    .replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\')
    .replace(/[`[]/g, '\\$&')
    .replace(
      /\*(?=\*)|(?<=\S)\*|~(?=~)|(?<=\S)~|_(?=_)|(?<=[^\s\p{L}\p{N}])_|(?<=\S)_(?![\p{L}\p{N}])/gu,
      '\\$&',
    )
    .replace(/<(?=[a-z/!?])/gi, '\\<')
    .replace(/&(?!(?:lt|gt|amp);)(?=#?\w{1,32};)/g, '&amp;')
    .replace(/^( {0,3})(#{1,6}(?=\s|$)|>|[-=*_](?=[-=*_ \t]*$))/, '$1\\$2')
    .replace(/^(?: {4}|\t)[ \t]*/, (space) => space.replaceAll('\t', '    ').replaceAll(' ', '\u00a0'));

/** Lines stay lines, and the line after a quote is not part of it. */
function withLineBreaks(text: string): string {
  const lines = text.split('\n');
  let isCode = false;
  return lines
    .map((line, n) => {
      const next = lines[n + 1];
      const isFence = line === FENCE;
      if (isFence) isCode = !isCode;
      if (isFence || isCode || next === undefined || next === FENCE || isBlank(line) || isBlank(next))
        return line;
      if (line.startsWith('>') && !next.startsWith('>')) return `${line}\n`;
      return `${line.trimEnd()}  `;
    })
    .join('\n');
}

const FENCE = '```';
const isBlank = (line: string): boolean => line.trim() === '';

/** CommonMark reads the entities that Slack requires, but not in code. */
const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const withoutEntities = (text: string): string =>
  text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] as string);

const isAddress = (target: string): boolean => /^(?:https?:|mailto:|tel:)/i.test(target);

/** Programs that read a part of CommonMark do not know a destination in angle brackets, which one with spaces or parentheses needs. */
const destinationOf = (target: string): string =>
  /[\s()\\<>]/.test(target) ? `<${target.replace(/[\n<>\\]/g, encodeURIComponent)}>` : target;

/** A link, or a mention, whose names are those of Slack. */
function reference(inner: string): string {
  const separator = inner.indexOf('|');
  const [target, label] =
    separator < 0 ? [inner, ''] : [inner.slice(0, separator), inner.slice(separator + 1)];
  if (isAddress(target))
    return label === ''
      ? `<${target}>`
      : `[${escaped(label).replaceAll(']', '\\]')}](${destinationOf(target)})`;
  if (/^[@#]/.test(target))
    return escaped(label === '' ? target : `${target.charAt(0)}${label.replace(/^[@#]/, '')}`);
  if (target.startsWith('!')) return escaped(label === '' ? `@${target.slice(1)}` : label);
  return escaped(`<${inner}>`);
}
