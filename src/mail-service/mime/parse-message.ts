import { once } from 'node:events';
import type { Readable } from 'node:stream';
import {
  type AttachmentStream,
  type HeaderLines,
  type Headers,
  MailParser,
  type MessageText,
} from 'mailparser';
import { textPieces } from '../../platform/search/html-text.js';
import { cleanTexts, isMessageId } from './clean-text.js';
import type { Address, AttachmentInfo, ParsedMessage } from './message.js';

/** Characters of text and of HTML that are kept beside the raw message. */
const MAX_TEXT = 1_048_576;
const MAX_ATTACHMENTS = 1_000;
const MAX_ADDRESSES = 2_000;
const MAX_REFERENCES = 100;
const MAX_MESSAGE_ID = 250;
const MAX_HEADER_LINES = 300;
const MAX_HEADER_VALUE = 4_096;
const INTRO = 128;
const LINE = 76;

/** mailparser without what it does for showing a message: images stay links. */
const OPTIONS = { skipImageLinks: true, maxHtmlLengthToParse: MAX_TEXT, checksumAlgo: 'sha256' };

/** Called for each attachment; the content has to be read to its end. */
type OnAttachment = (attachment: AttachmentStream, id: string) => Promise<void>;

/**
 * Reads a message as it comes.
 * @throws whatever the parser says about a message that it cannot read: too many parts, endless headers
 */
async function walk(
  source: Readable | Uint8Array,
  onAttachment: OnAttachment,
): Promise<{ headers: Headers; lines: HeaderLines; text: MessageText | undefined }> {
  const parser = new MailParser(OPTIONS);
  let headers: Headers = new Map();
  let lines: HeaderLines = [];
  let text: MessageText | undefined;
  let count = 0;
  const works: Promise<void>[] = [];
  const ended = Promise.withResolvers<void>();
  parser.on('headers', (value) => (headers = value));
  parser.on('headerLines', (value) => (lines = value));
  parser.on('data', (data) => {
    if (data.type === 'text') {
      text = data;
      return;
    }
    count += 1;
    const id = `ATT${String(count).padStart(5, '0')}`;
    const work =
      count > MAX_ATTACHMENTS ? Promise.reject(new Error('too many attachments')) : onAttachment(data, id);
    works.push(work);
    work.then(() => data.release(), ended.reject);
  });
  parser.once('end', () => ended.resolve());
  parser.once('error', ended.reject);
  if (source instanceof Uint8Array) parser.end(source);
  else source.once('error', ended.reject).pipe(parser);
  try {
    await ended.promise;
    // The parser does not wait for the last one to be read when nothing follows it.
    await Promise.all(works);
  } finally {
    parser.destroy();
  }
  return { headers, lines, text };
}

/** Everything about a message that is kept beside it. @throws Error when it cannot be read */
export async function parseMessage(raw: Uint8Array): Promise<ParsedMessage> {
  const attachments: AttachmentInfo[] = [];
  const { headers, lines, text } = await walk(raw, async (attachment, id) => {
    attachments.push(await describe(attachment, id));
  });
  const markup = typeof text?.html === 'string' && text.html !== '' ? text.html : undefined;
  const html = linked(markup ?? text?.textAsHtml, attachments);
  const plain = (text?.text ?? '').slice(0, MAX_TEXT);
  return cleanTexts({
    messageId: messageIds(headers.get('message-id'))[0] ?? null,
    subject: textOf(headers.get('subject')),
    date: dateOf(headers.get('date')),
    from: addresses(headers.get('from'))[0] ?? null,
    replyTo: addresses(headers.get('reply-to')),
    to: addresses(headers.get('to')),
    cc: addresses(headers.get('cc')),
    bcc: addresses(headers.get('bcc')),
    references: referencesOf(headers),
    contentType: contentTypeOf(headers.get('content-type')),
    text: plain.replace(/\n$/, ''),
    html,
    intro: introOf(markup, plain),
    attachments,
    headers: headerLines(lines),
  });
}

/** Streams one attachment of a message that was parsed before, and leaves the rest unread. */
export async function openAttachment(source: Readable, id: string): Promise<Readable> {
  const found = Promise.withResolvers<Readable>();
  const over = walk(source, async (attachment, each) => {
    const content = attachment.content as Readable;
    if (each !== id) {
      content.resume();
      await once(content, 'end');
      return;
    }
    found.resolve(content);
    // A reader that goes away ends the walk.
    await new Promise<void>((resolve, reject) => {
      content
        .once('end', resolve)
        .once('error', reject)
        .once('close', () => reject(new Error('closed')));
    });
  });
  over
    .then(
      () => found.reject(new Error('there is no such attachment')),
      (error: unknown) => {
        found.reject(error);
        found.promise.then((content) => content.destroy(error as Error)).catch(() => undefined);
      },
    )
    .finally(() => source.destroy());
  return found.promise;
}

/** The contents of some attachments, with what describes them. */
export async function readAttachments(
  raw: Uint8Array,
  ids: readonly string[],
): Promise<{ info: AttachmentInfo; content: Buffer }[]> {
  const taken: { info: AttachmentInfo; content: Buffer }[] = [];
  await walk(raw, async (attachment, id) => {
    const chunks: Buffer[] = [];
    const info = await describe(attachment, id, (chunk) => ids.includes(id) && chunks.push(chunk));
    if (ids.includes(id)) taken.push({ info, content: Buffer.concat(chunks) });
  });
  return taken;
}

async function describe(
  attachment: AttachmentStream,
  id: string,
  onChunk: (chunk: Buffer) => unknown = () => undefined,
): Promise<AttachmentInfo> {
  const content = attachment.content as Readable;
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    onChunk(chunk);
  }
  const { checksum } = attachment;
  const encoding = attachment.headers.get('content-transfer-encoding');
  const transferEncoding = typeof encoding === 'string' ? encoding.toLowerCase() : '7bit';
  return {
    hash: checksum,
    id,
    filename: attachment.filename || `attachment-${Number(id.slice(3))}`,
    contentType: declaredType(attachment),
    disposition: attachment.contentDisposition === 'inline' ? 'inline' : 'attachment',
    transferEncoding,
    cid: attachment.contentId ?? null,
    related: attachment.related === true,
    sizeKb: Math.ceil(bytes / 1024),
    size: transferEncoding === 'base64' ? encodedLength(bytes) : bytes,
    fileContentHash: Buffer.from(checksum, 'hex').toString('base64'),
  };
}

/** What the sender says it is, where the parser would guess from the name. */
function declaredType({ headers, contentType }: AttachmentStream): string {
  const { value } = (headers.get('content-type') ?? {}) as { value?: unknown };
  return typeof value === 'string' && value !== '' ? value : contentType || 'application/octet-stream';
}

/** Of base64 in lines. */
function encodedLength(bytes: number): number {
  const characters = Math.ceil(bytes / 3) * 4;
  return characters + 2 * Math.max(0, Math.ceil(characters / LINE) - 1);
}

/** The HTML with its links to attached images as they are answered. */
function linked(html: string | undefined, attachments: readonly AttachmentInfo[]): string | null {
  if (!html) return null;
  const byCid = new Map(attachments.flatMap(({ cid, id }) => (cid ? [[cid.replace(/^<|>$/g, ''), id]] : [])));
  const text = html.replace(/\bcid:([^'"\s<>]{1,256})/g, (whole, cid: string) => {
    const id = byCid.get(cid);
    return id === undefined ? whole : `attachment:${id}`;
  });
  return text.slice(0, MAX_TEXT);
}

function introOf(html: string | undefined, plain: string): string | null {
  let text = '';
  if (html === undefined) text = plain.slice(0, INTRO * 8);
  else {
    for (const piece of textPieces(withoutScripts(html.slice(0, MAX_TEXT)))) {
      text += piece;
      if (text.trim().length > INTRO * 4) break;
    }
  }
  const line = text.replace(/\s+/g, ' ').trim();
  if (line === '') return null;
  return line.length > INTRO
    ? `${line
        .slice(0, INTRO)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`
    : line;
}

/** Without what nobody reads: scripts, styles, the title. Looks at each character once. */
function withoutScripts(html: string): string {
  const opening = /<(script|style|title)\b/gi;
  const lower = html.toLowerCase();
  let kept = '';
  let at = 0;
  for (let found = opening.exec(html); found; found = opening.exec(html)) {
    kept += html.slice(at, found.index);
    const close = lower.indexOf(`</${found[1]?.toLowerCase()}`, found.index);
    if (close < 0) return kept;
    at = close;
    opening.lastIndex = close;
  }
  return kept + html.slice(at);
}

/** An address header, however often it stands there and however its groups are nested. */
function addresses(header: unknown): Address[] {
  const found: Address[] = [];
  const collect = (value: unknown): void => {
    if (found.length >= MAX_ADDRESSES || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.forEach(collect);
    const { value: list, group, address, name } = value as Record<string, unknown>;
    if (list !== undefined) collect(list);
    else if (group !== undefined) collect(group);
    else if (typeof address === 'string' && address !== '')
      found.push({
        address: address.slice(0, 320),
        name: typeof name === 'string' ? name.slice(0, 1_000) : '',
      });
  };
  collect(header);
  return found;
}

const textOf = (header: unknown): string => (typeof header === 'string' ? header : '');

function messageIds(header: unknown): string[] {
  const text = Array.isArray(header) ? header.join(' ') : typeof header === 'string' ? header : '';
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((id) => (id.startsWith('<') ? id : `<${id}>`))
    .filter((id) => id.length <= MAX_MESSAGE_ID && isMessageId(id));
}

function referencesOf(headers: Headers): string[] {
  const all = [...messageIds(headers.get('references')), ...messageIds(headers.get('in-reply-to'))];
  return [...new Set(all)].slice(-MAX_REFERENCES);
}

function dateOf(value: unknown): string | null {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return null;
  // Beyond this PostgreSQL's times, and people's, end.
  const year = value.getUTCFullYear();
  return year >= 1970 && year < 10_000 ? value.toISOString() : null;
}

function contentTypeOf(header: unknown): ParsedMessage['contentType'] {
  const { value, params = {} } = (header ?? {}) as { value?: string; params?: Record<string, string> };
  const known = Object.entries(params).filter(([, param]) => typeof param === 'string');
  return {
    value: typeof value === 'string' && value !== '' ? value : 'text/plain',
    ...(known.length > 0 && { params: Object.fromEntries(known) }),
  };
}

function headerLines(lines: HeaderLines): Record<string, string[]> {
  const all = Object.create(null) as Record<string, string[]>;
  for (const { key, line } of lines.slice(0, MAX_HEADER_LINES)) {
    const value = line
      .slice(line.indexOf(':') + 1)
      .replace(/\s+/g, ' ')
      .trim();
    (all[key.slice(0, 200)] ??= []).push(value.slice(0, MAX_HEADER_VALUE));
  }
  return all;
}
