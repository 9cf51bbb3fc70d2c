import type { Readable } from 'node:stream';
import type { HeaderLines } from 'mailparser';
import {
  documentText,
  type ReadAttachment,
  textPieces,
  toAttachmentLinks,
  withoutScripts,
} from '../../lib/html/index.js';
import { type Address, type AttachmentInfo, CalendarPartFinder, type ParsedMessage } from './message.js';
import { cleanTexts, isMediaType, toOneLine } from './clean-text.js';
import { messageIds, referencesOf } from './message-ids.js';
import { MAX_TEXT } from './message-parser.js';
import { describe, locationOf, walk } from './walk.js';
import { cutText, shortenText } from '../../lib/text/index.js';

const MAX_ADDRESSES = 2_000;
const MAX_PARAMETERS = 50;
const MAX_PARAMETER = 255;
const MAX_HEADER_LINES = 300;
const MAX_HEADER_VALUE = 4_096;
const INTRO = 128;

/** Parses a message. @throws Error for an unreadable message */
export async function parseMessage(source: Readable): Promise<ParsedMessage> {
  const attachments: AttachmentInfo[] = [];
  const links: ReadAttachment[] = [];
  const calendar = new CalendarPartFinder();
  const { headers, lines, text, base, tnef } = await walk(source, async (attachment, id) => {
    const { related, cid } = attachment;
    links.push({ id, cid, related, location: locationOf(attachment.headers) });
    attachments.push(await describe(attachment, id, calendar.readerOf(attachment)));
  });
  const own = typeof text?.html === 'string' && text.html !== '' ? text.html : undefined;
  const isEmpty = (text?.text ?? '').trim() === '' && own === undefined;
  const markup = own ?? (isEmpty && tnef?.html ? tnef.html : undefined);
  const html = markup ?? text?.textAsHtml;
  const written = (isEmpty && tnef?.text) || (text?.text ?? '');
  const plain = written.trim() === '' && markup ? documentText(markup.slice(0, MAX_TEXT)) : written;
  const from = addresses(headers.get('from'));
  const hasOneSender = from.length === 1 && lines.filter(({ key }) => key === 'from').length === 1;
  const sender = hasOneSender ? (from[0]?.address ?? '') : '';
  return cleanTexts({
    messageId: messageIds(headers.get('message-id'))[0] ?? null,
    subject: textOf(headers.get('subject')),
    date: dateOf(headers.get('date')),
    from: from[0] ?? namesOf(headers.get('from'))[0] ?? null,
    replyTo: addresses(headers.get('reply-to')),
    to: addresses(headers.get('to')),
    cc: addresses(headers.get('cc')),
    bcc: addresses(headers.get('bcc')),
    references: referencesOf(headers),
    contentType: contentTypeOf(headers.get('content-type')),
    text: cutText(plain, MAX_TEXT).replace(/\n$/, ''),
    html: html ? cutText(toAttachmentLinks(html, links, base), MAX_TEXT) : null,
    intro: introOf(markup, plain),
    attachments,
    headers: headerLines(lines),
    calendar: calendar.found && { ...calendar.found, sender },
  });
}

/** The HTML has pictures only, or no content beside a text, in which case the text is what users read. */
function introOf(html: string | undefined, plain: string): string | null {
  const text =
    (html === undefined ? '' : oneLineOf(startOf(html, INTRO * 4))) || oneLineOf(plain.slice(0, INTRO * 8));
  return text === '' ? null : shortenText(text, INTRO);
}

/** Newsletters fill the preview with blanks and invisible characters; a single one of these belongs to a word or an emoji. */
const FILLING = /[\s\u034f\u00ad\u200b-\u200f\u2060-\u2064\u2800\ufeff]{2,}|\s/g;

const oneLineOf = (text: string): string => text.replace(FILLING, ' ').trim();

/** The visible text of HTML, which ends after `enough` characters. */
function startOf(html: string, enough: number): string {
  let text = '';
  for (const piece of textPieces(withoutScripts(html.slice(0, MAX_TEXT)))) {
    text += piece;
    if (text.length > enough && text.trim().length > enough) break;
  }
  return text;
}

/** The addresses of a header. Names without an address are no recipients. */
const addresses = (header: unknown): Address[] => addressesOf(header).filter(({ address }) => address !== '');
/** The senders without an address: bounces have `MAILER-DAEMON <>`, and local programs only a name. */
const namesOf = (header: unknown): Address[] => addressesOf(header).filter(({ name }) => name !== '');

/** Flattens repeated address headers and nested groups. */
function addressesOf(header: unknown): Address[] {
  const found: Address[] = [];
  const collect = (value: unknown): void => {
    if (found.length >= MAX_ADDRESSES || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.forEach(collect);
    const { value: list, group, address, name } = value as Record<string, unknown>;
    if (list !== undefined) collect(list);
    else if (group !== undefined) collect(group);
    else if (typeof address === 'string')
      found.push({
        address: cutText(address, 320),
        name: typeof name === 'string' ? toOneLine(cutText(name, 1_000)) : '',
      });
  };
  collect(header);
  return found;
}

const textOf = (header: unknown): string => (typeof header === 'string' ? toOneLine(header) : '');

function dateOf(value: unknown): string | null {
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return null;
  // Dates begin with 1900 (RFC 5322, 3.3); PostgreSQL does not read five digits.
  const year = value.getUTCFullYear();
  return year >= 1900 && year < 10_000 ? value.toISOString() : null;
}

function contentTypeOf(header: unknown): ParsedMessage['contentType'] {
  const { value, params = {} } = (header ?? {}) as { value?: string; params?: Record<string, string> };
  const known = Object.entries(params)
    .filter(([name, param]) => typeof param === 'string' && name.length + param.length <= MAX_PARAMETER)
    .slice(0, MAX_PARAMETERS);
  return {
    value: typeof value === 'string' && isMediaType(value) ? value.slice(0, MAX_PARAMETER) : 'text/plain',
    ...(known.length > 0 && { params: Object.fromEntries(known) }),
  };
}

function headerLines(lines: HeaderLines): Record<string, string[]> {
  const all = Object.create(null) as Record<string, string[]>;
  for (const { key, line } of lines.slice(0, MAX_HEADER_LINES)) {
    // One character a byte.
    const value = Buffer.from(line.slice(line.indexOf(':') + 1), 'latin1')
      .toString()
      .replace(/\s+/g, ' ')
      .trim();
    (all[cutText(key, 200)] ??= []).push(cutText(value, MAX_HEADER_VALUE));
  }
  return all;
}
