import type { Transform } from 'node:stream';
import { type Headers, MailParser, type MessageText } from 'mailparser';
import { decodeText, isSevenBits } from '../../lib/content-lines/index.js';
import { documentText } from '../../lib/html/index.js';
import { addressList, type ListedAddress, removeComments } from './address-list.js';
import { parseDate } from './correction/dates.js';
import {
  Base64Decoder,
  CharsetDetector,
  isAsciiName,
  JapaneseDecoder,
  joinFlowed,
  knownCharset,
  resolveCharset,
  UU_ENCODINGS,
  UuDecoder,
} from './correction/decoders.js';
import { enrichedText } from './correction/enriched-text.js';
import type { EmbeddedFile } from './embedded/embedded-file.js';
import { splitUuencoded } from './embedded/uuencoded.js';

/** A part as mailsplit announces it. */
interface SplitPart {
  type: string;
  contentType: string | false;
  filename: string | false;
  disposition: string | false;
  encoding: string;
  flowed: boolean;
  delSp: boolean;
  getDecoder(): Transform;
}

/** A part of the parsed message. */
interface Part {
  node: SplitPart;
  parent?: Part;
  children: Part[];
  headers: Headers;
  contentType: string | false;
  disposition?: string;
  isAttachment?: boolean;
  textContent?: string;
  charset?: string;
}

interface HeaderLine {
  key: string;
  line: string;
}

interface Decoder {
  decodeStream(charset: string): Transform;
}

interface Link {
  url: string;
  text: string;
  index: number;
  lastIndex: number;
}

/** Members of mailparser without types. */
interface Internals {
  tree: Part | false;
  hasHtml: boolean;
  hasText: boolean;
  getDecoder(): Decoder;
  libmime: {
    decodeHeader(line: string): { value?: unknown };
    decodeWord(charset: string, encoding: string, text: string): string;
    decodeWords(text: string): string;
    parseHeaderValue(text: string): { params: Record<string, string> };
  };
  processHeaders(lines: readonly HeaderLine[]): Headers;
  createNode(part: SplitPart): Part;
  processChunk(data: SplitPart, done: (error?: Error) => void): void;
  getTextContent(): MessageText;
  textToHtml(text: string): string;
  findLinks(text: string): Link[];
  decodeAddresses(addresses: ListedAddress[]): void;
  getAddressesHTML(addresses: ListedAddress[]): string;
  getAddressesText(addresses: ListedAddress[]): string;
}

type Constructor = new (
  ...options: ConstructorParameters<typeof MailParser>
) => Omit<MailParser, keyof Internals> & Internals;

const ADDRESS_HEADERS = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc']);
/** Headers that name a sender. */
const SINGLE_HEADERS = new Set(['from', 'sender', 'reply-to']);
/** mailparser splits their ids at blanks. */
const ID_HEADERS = ['message-id', 'in-reply-to', 'references'];
/** Headers of which the first one counts: programs that verify a message look at it (RFC 6376 5.4.2), and mailparser at the last one. */
const FIRST_HEADERS: ReadonlySet<string> = new Set([...SINGLE_HEADERS, 'subject', 'date']);
const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text/plain', 'text/html']);

/** Texts that programs read, not users. A calendar is a scheduling message. */
const DATA_TYPES = new Set(['calendar', 'css', 'directory', 'javascript', 'rtf', 'vcard', 'x-vcard', 'xml']);
/** Maximum number of characters of a text or HTML that are stored, and of HTML that are read as text. */
export const MAX_TEXT = 1_048_576;
const TWITTER_LINK = /<a href="https:\/\/twitter\.com\/\w{1,15}">(@\w{1,15})<\/a>/g;
const PARAMETER_HEADERS = ['content-disposition', 'content-type'] as const;
/** A parameter in the encoded form, whose sections are joined before. */
const ENCODED_FORM = /;\s*([\w-]+)\*=/;
const ENCODED_FORMS = new RegExp(ENCODED_FORM, 'g');
const ENRICHED = /^text\/(?:enriched|richtext)$/i;
const UTF8 = /^utf-?8$/i;
const ISO_2022_JP = /^(?:cs)?iso-?2022-?jp/i;
/** The beginning of an encoded word whose character set has a name with characters that libmime does not expect there. */
const DOTTED_WORD = /=\?([\w-]{1,40}[.:][\w.:-]{1,40})(?=(?:\*[\w-]{1,20})?\?[bq]\?)/gi;
const ENCODED_WORD = /=\?[^?]+\?[bq]\?[^?]*\?=/i;
/** In place of a character set that is absent, or ASCII, which is UTF-8 too. */
const UNDECLARED = 'undeclared';

/**
 * mailparser with corrections: the text of HTML, addresses, ids and dates of other forms (RFC 5322), quotes in format=flowed (RFC 3676),
 * text files, which mailparser puts into the text of the message, texts of other types than plain and HTML (RFC 2046 4.1.4), texts without
 * a known character set, character sets of seven bits that TextDecoder and libmime do not know, base64 with a text after it, and uuencode,
 * also within a text.
 */
export class MessageParser extends (MailParser as unknown as Constructor) {
  /** The Content-Location of the HTML. */
  base: string | undefined;
  /** Files within the texts, known with the text. */
  files: EmbeddedFile[] = [];
  /** Whole texts that are longer than what is stored of them, known with the text. */
  longTexts: EmbeddedFile[] = [];
  private readonly enriched = new Set<SplitPart>();
  private readonly flowed = new Map<SplitPart, { delSp: boolean }>();
  /** The part that is processed is HTML. */
  private isHtml = false;

  /** mailsplit decodes names of files with a libmime of its own, so that `createNode` reads them again. */
  constructor(
    options: ConstructorParameters<typeof MailParser>[0],
    private readonly withTexts = true,
  ) {
    super(options);
    const { libmime } = this;
    const decodeWord = libmime.decodeWord.bind(libmime);
    libmime.decodeWord = (charset, encoding, text) => {
      const name = charset.split('*', 1)[0] ?? '';
      const bytesOf = (): string => decodeWord('binary', encoding, text);
      if (isSevenBits(name)) return decodeText(bytesOf(), name);
      if (isAsciiName(name)) return decodeText(bytesOf());
      const word = decodeWord(resolveCharset(name), encoding, text);
      // It takes an unknown set for UTF-8.
      return word.includes('\ufffd') && isLossyUtf8(word, bytesOf())
        ? decodeText(bytesOf(), UTF8.test(name) ? undefined : knownCharset(name))
        : word;
    };
    const decodeWords = libmime.decodeWords.bind(libmime);
    libmime.decodeWords = (text) => decodeWords(text?.replace(DOTTED_WORD, renameCharset));
  }

  override processHeaders(all: readonly HeaderLine[]): Headers {
    const lines = withoutRepeated(all || []);
    const headers = super.processHeaders(lines);
    for (const name of ADDRESS_HEADERS) {
      const isSingle = SINGLE_HEADERS.has(name);
      const values = lines
        .filter(({ key }) => key === name)
        .map(({ line }) => this.addresses(line, isSingle));
      const last = values.at(-1);
      if (last) headers.set(name, (isSingle || values.length === 1 ? last : values) as never);
    }
    for (const name of ID_HEADERS) {
      const values = lines.filter(({ key }) => key === name).map(({ line }) => this.textOf(line));
      const ids = name === 'references' ? values.join(' ') : values.at(-1);
      if (ids !== undefined) headers.set(name, ids);
    }
    for (const name of PARAMETER_HEADERS) {
      const line = lines.findLast(({ key }) => key === name);
      if (line) this.keepEncodedForms(parametersOf(headers, name), this.unfoldedValue(line.line));
    }
    // mailparser takes the present time for a date that it cannot read.
    const date = lines.find(({ key }) => key === 'date');
    if (date) headers.set('date', this.dateOf(date.line));
    return headers;
  }

  /**
   * A value in the encoded form of RFC 2231 is text as it was written, also text that looks like an encoded word, which mailparser would
   * decode.
   */
  private keepEncodedForms(parameters: Record<string, string | undefined>, value: string): void {
    if (!ENCODED_FORM.test(value)) return;
    const { params } = this.libmime.parseHeaderValue(value.trim());
    for (const [, name = ''] of value.matchAll(ENCODED_FORMS)) {
      const key = name.toLowerCase();
      if (Object.hasOwn(params, key)) parameters[key] = params[key];
    }
  }

  override createNode(part: SplitPart): Part {
    if (part.encoding === 'base64')
      part.getDecoder = () => new Base64Decoder(TEXT_TYPES.has(part.contentType || 'text/plain'));
    if (UU_ENCODINGS.has(part.encoding)) part.getDecoder = () => new UuDecoder();
    const created = super.createNode(part);
    const name = fileNameOf(created.headers) || part.filename || '';
    part.filename = name.trim() === '' ? false : name;
    const location = created.headers.get('content-location');
    if (created.contentType === 'text/html' && typeof location === 'string')
      this.base ??= location.replace(/\s+/g, '');
    if (isOtherText(created)) {
      if (ENRICHED.test(created.contentType || '')) this.enriched.add(part);
      created.contentType = 'text/plain';
      created.disposition = 'inline';
      created.isAttachment = false;
    }
    if (TEXT_TYPES.has(created.contentType) && isAsciiName(created.charset ?? 'ascii'))
      created.charset = UNDECLARED;
    if (isTextFile(created)) {
      created.disposition = 'attachment';
      created.isAttachment = true;
    }
    return created;
  }

  override processChunk(data: SplitPart, done: (error?: Error) => void): void {
    if (data.type === 'node' && data.flowed) {
      // mailparser would join the lines, before it decodes the character set.
      if (data.contentType === 'text/plain') this.flowed.set(data, { delSp: data.delSp });
      data.flowed = false;
    }
    if (data.type === 'node') this.isHtml = data.contentType === 'text/html';
    super.processChunk(data, done);
  }

  override getDecoder(): Decoder {
    const decoder = super.getDecoder();
    return {
      decodeStream: (declared) => {
        const charset = resolveCharset(declared);
        try {
          if (ISO_2022_JP.test(charset)) return new JapaneseDecoder(() => decoder.decodeStream(charset));
          if (charset !== UNDECLARED && !isAsciiName(charset)) return decoder.decodeStream(charset);
        } catch {
          // The name is unknown.
        }
        return new CharsetDetector(this.isHtml, charset);
      },
    };
  }

  /** mailparser would convert HTML to text with headings in capitals, addresses of pictures, and lines of 80 characters. */
  override getTextContent(): MessageText {
    const texts: string[] = [];
    const markups: string[] = [];
    const whole = { plain: [] as string[], html: [] as string[] };
    const visit = (part: Part, alternative?: Alternative): void => {
      const content = part.textContent;
      if (content && part.contentType === 'text/html') {
        markups.push(content);
        whole.html.push(content);
        if (this.withTexts && !alternative?.hasText) texts.push(documentText(content.slice(0, MAX_TEXT)));
      } else if (content && (content.trim() !== '' || !alternative?.hasHtml)) {
        const text = this.readableText(part.node, content);
        texts.push(text);
        whole.plain.push(text);
        if (this.withTexts && !alternative?.hasHtml && this.hasHtml) markups.push(this.textToHtml(text));
      }
      const own = part.contentType === 'multipart/alternative' ? textsOf(part) : undefined;
      for (const child of part.children) visit(child, alternative ?? own);
    };
    if (this.tree) visit(this.tree);
    this.longTexts = [
      ...longText('message.txt', 'text/plain', whole.plain, '\n'),
      ...longText('message.html', 'text/html', whole.html, '<br/>\n'),
    ];
    if (!this.withTexts) return { type: 'text' };
    return {
      type: 'text',
      ...(texts.length > 0 && { text: texts.join('\n') }),
      ...(markups.length > 0
        ? { html: markups.join('<br/>\n') }
        : { textAsHtml: texts.map((text) => this.textToHtml(text)).join('<br/>\n') }),
    };
  }

  /** The text without the files that programs write into texts without format. */
  private readableText(node: SplitPart, content: string): string {
    const flow = this.flowed.get(node);
    if (flow) return joinFlowed(content, flow.delSp);
    if (this.enriched.has(node)) return enrichedText(content);
    const { text, files } = splitUuencoded(content);
    this.files.push(...files);
    return text;
  }

  /** mailparser writes an address into its attribute as it is, where `&copy` is a character. */
  override findLinks(text: string): Link[] {
    return super.findLinks(text).map((link) => ({ ...link, url: link.url.replaceAll('&', '&amp;') }));
  }

  /** mailparser would make `@name` a link to Twitter. */
  override textToHtml(text: string): string {
    return super.textToHtml(text).replaceAll(TWITTER_LINK, '$1');
  }

  /** @returns the time of a Date header, also with comments and spaces within it (RFC 5322 4.3); an invalid Date for another text */
  private dateOf(line: string): Date {
    return parseDate(removeComments(this.textOf(line)));
  }

  /** The value of a field, unfolded. @param line one character a byte */
  private unfoldedValue(line: string): string {
    const { value } = this.libmime.decodeHeader(line);
    return Buffer.from(typeof value === 'string' ? value : '', 'latin1').toString();
  }

  private textOf(line: string): string {
    return this.decoded(this.unfoldedValue(line));
  }

  private decoded(value: string): string {
    try {
      return this.libmime.decodeWords(value);
    } catch {
      return value;
    }
  }

  private addresses(line: string, isStrict: boolean): { value: ListedAddress[]; html: string; text: string } {
    const list = addressList(this.unfoldedValue(line), isStrict);
    if (isStrict) this.decodeNames(list);
    else this.decodeAddresses(list);
    return { value: list, html: this.getAddressesHTML(list), text: this.getAddressesText(list) };
  }

  /**
   * An encoded word is a name, not an address (RFC 2047 5), which mailparser makes of it: programs that verify the sender find none there.
   */
  private decodeNames(list: readonly ListedAddress[]): void {
    for (const entry of list) {
      const { name, address = '', group } = entry;
      if (address !== '' && !ENCODED_WORD.test(address)) this.decodeAddresses([entry]);
      else {
        entry.name = this.decoded(name || address).trim();
        if (group) this.decodeNames(group);
        else entry.address = '';
      }
    }
  }
}

/** The file of a text that is stored in part only. */
function longText(name: string, type: string, parts: readonly string[], separator: string): EmbeddedFile[] {
  const length = parts.reduce((sum, part) => sum + part.length + separator.length, -separator.length);
  if (length <= MAX_TEXT) return [];
  return [{ name, contentType: type, charset: 'utf-8', read: () => [Buffer.from(parts.join(separator))] }];
}

function withoutRepeated(lines: readonly HeaderLine[]): HeaderLine[] {
  const seen = new Set<string>();
  return lines.filter(({ key }) => !FIRST_HEADERS.has(key) || (!seen.has(key) && seen.add(key)));
}

function renameCharset(word: string, name: string): string {
  const known = isAsciiName(name) ? 'us-ascii' : knownCharset(name);
  return known === undefined ? word : `=?${known}`;
}

/** True for the text that bytes (one character each) become as UTF-8 with U+FFFD in place of invalid ones. */
const isLossyUtf8 = (text: string, bytes: string): boolean =>
  text === Buffer.from(bytes, 'latin1').toString();

/** Which texts the parts of a multipart/alternative have. */
interface Alternative {
  hasText: boolean;
  hasHtml: boolean;
}

function textsOf({ contentType, textContent, children }: Part): Alternative {
  const isShown = (textContent ?? '').trim() !== '';
  const found = {
    hasText: isShown && contentType !== 'text/html',
    hasHtml: isShown && contentType === 'text/html',
  };
  for (const { hasText, hasHtml } of children.map(textsOf)) {
    found.hasText ||= hasText;
    found.hasHtml ||= hasHtml;
  }
  return found;
}

const parametersOf = (headers: Headers, name: string): Record<string, string | undefined> =>
  (headers.get(name) as { params?: Record<string, string> } | undefined)?.params ?? {};

const fileNameOf = (headers: Headers): string | undefined =>
  parametersOf(headers, 'content-disposition')['filename'] || parametersOf(headers, 'content-type')['name'];

/**
 * True for a text that is a file (RFC 8621 4.1.4): not the first part of its multipart, and with a name, or a resource of an HTML
 * text. An alternative is the text itself, with or without a name, and so is the root of a multipart/related.
 */
function isTextFile(part: Part): boolean {
  const { node, parent, contentType, disposition, headers } = part;
  if (disposition !== 'inline' || !TEXT_TYPES.has(contentType)) return false;
  if (!parent || parent.children.length < 2 || parent.contentType === 'multipart/alternative') return false;
  if (isRoot(part, parent)) return false;
  if (node.filename) return true;
  const isNamed = headers.has('content-id') || headers.has('content-location');
  return parent.contentType === 'multipart/related' && isNamed;
}

/**
 * True for the root of a multipart/related (RFC 2387 3.1, 3.2): the part that `start` names, or without it the first one of the declared
 * type; programs declare the type of a text also if it is in a multipart. HTML after files only is shown as the root, also if the
 * parameters are missing or wrong.
 */
function isRoot(part: Part, { contentType, headers, children }: Part): boolean {
  if (contentType !== 'multipart/related') return false;
  const { start, type } = parametersOf(headers, 'content-type');
  const root = idOf(start);
  if (root !== '' && root === idOf([part.headers.get('content-id')].flat()[0])) return true;
  const others = children.filter((other) => other !== part && !other.isAttachment);
  if (root === '' && part.contentType === type?.toLowerCase())
    return !others.some((other) => other.contentType === part.contentType || isMultipart(other));
  return part.contentType === 'text/html' && others.length === 0;
}

const isMultipart = ({ contentType }: Part): boolean => (contentType || '').startsWith('multipart/');

/** A content id without brackets. */
const idOf = (id: unknown): string => (typeof id === 'string' ? id.replace(/[\s<>]+/g, '') : '');

/**
 * True for a text of another type than plain and HTML that is the message or the first part of it: receivers treat unknown types of text
 * as plain (RFC 2046 4.1.4). Alternatives are not shown beside the text.
 */
function isOtherText(part: Part): boolean {
  const { node, parent, contentType } = part;
  const subtype = /^text\/(.+)$/.exec(contentType || '')?.[1];
  if (subtype === undefined || TEXT_TYPES.has(contentType) || DATA_TYPES.has(subtype)) return false;
  if (node.filename || (node.disposition && node.disposition !== 'inline')) return false;
  return !parent || (parent.children.length === 1 && !isInAlternative(part));
}

function isInAlternative({ parent }: Part): boolean {
  return parent !== undefined && (parent.contentType === 'multipart/alternative' || isInAlternative(parent));
}
