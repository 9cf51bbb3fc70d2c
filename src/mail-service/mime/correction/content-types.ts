import { Transform, type TransformCallback } from 'node:stream';
import { resolveCharset } from './decoders.js';
import { charsetOfHead, repairField, splitHead, toUtf8 } from './heads.js';
import { repairParameters, splitValue } from './parameters.js';

/** A Content-Type field of a head. */
export interface ContentTypeField {
  /** Position among the fields of the head. */
  position: number;
  /** The field with its line end, repaired where the type is written with comments, spaces or quotes, or without a semicolon. */
  text: string;
  /** In lower case; null for a value that is no media type. */
  type: string | null;
  /** They begin with the first semicolon and end with the line end. */
  parameters: string;
  /** The boundary of a multipart. */
  boundary: string | undefined;
}

const FIELD = /^content-type[ \t]*:/i;
const TOKEN = "[\\w!#$%&'*+.^`|~{}-]+";
const TYPE = new RegExp(`^(${TOKEN})\\s*/\\s*(${TOKEN})(?:[\\s,]+\\S.*)?$`, 's');
const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"\r\n]*[^;"\s]))/i;
const CHARSET = /;\s*charset\s*=\s*("[^"]*"|[^\s;"]+)/i;
const FILE =
  /^content-disposition[ \t]*:\s*attachment\b|^content-(?:disposition|type)[ \t]*:.*?;\s*(?:file)?name\*?\d*\*?\s*=/is;

/** @returns undefined for another field. @param text with its folded lines and line end */
export function contentTypeField(text: string, position: number): ContentTypeField | undefined {
  const [name] = FIELD.exec(text) ?? [];
  if (name === undefined) return undefined;
  const { value, parameters: written } = splitValue(text, name.length);
  const [, kind, subtype] = TYPE.exec(value.replace(/^"([^"]*)"$/, '$1')) ?? [];
  const type = kind === undefined ? null : `${kind}/${subtype}`.toLowerCase();
  const parameters = repairParameters(written);
  const isExact = type === null || text.slice(name.length).trimStart().toLowerCase() === type + parameters;
  const [, quoted, plain] = type?.startsWith('multipart/') ? (BOUNDARY.exec(parameters) ?? []) : [];
  return {
    position,
    text: isExact ? text : `Content-Type: ${type}${parameters}`,
    type,
    parameters,
    boundary: (quoted?.replace(/\\(.)/g, '$1') ?? plain) || undefined,
  };
}

/** The field with another boundary. */
export function withBoundary({ type, parameters }: ContentTypeField, boundary: string): string {
  const quoted = boundary.replace(/["\\]/g, String.raw`\$&`);
  return `Content-Type: ${type}; boundary="${quoted}"${parameters.replace(BOUNDARY, '')}`;
}

/** The field of a text in the same character set. */
export function asPlainText({ parameters }: ContentTypeField): string {
  const charset = CHARSET.exec(parameters)?.[1];
  return `Content-Type: text/plain${charset === undefined ? '' : `; charset=${charset}`}\r\n`;
}

/** The declared character set. */
function charsetOf({ parameters }: ContentTypeField): string | undefined {
  const [, charset] = CHARSET.exec(parameters) ?? [];
  return charset === undefined ? undefined : resolveCharset(charset.replaceAll('"', ''));
}

const BASE64 = /^content-transfer-encoding[ \t]*:\s*base64\b/i;

/** True for a head of a file: it is an attachment, has a name, or is of a part in base64, which may be of any type. */
export const isHeadOfFile = (fields: readonly string[], isPart: boolean): boolean =>
  fields.some((field) => FILE.test(field) || (isPart && BASE64.test(field)));

/** A longer head is not examined. */
const MAX_HEAD = 1_048_576;
/** Bytes of the body that are examined for a boundary. */
const EXAMINED = 262_144;
/** A longer line is no boundary: RFC 2046 limits it to 70 characters. */
const MAX_BOUNDARY_LINE = 1_000;
const LF = 10;
const CR = 13;
const DASH = 45;

/** Bytes of a message that are examined. Later heads stay as they are: a hostile message has a hundred thousand of them. */
const MAX_EXAMINED = 64 * EXAMINED;

/** Deeper multiparts stay as they are: each line of a body is compared with the boundaries of the levels above it. */
const MAX_LEVELS = 50;

/** The default of a part of a digest. */
const MESSAGE = 'Content-Type: message/rfc822\r\n';

const CONTENT_FIELD = /^content-[\w-]+[ \t]*:/i;

interface Multipart {
  type: string;
  boundary: string;
  hasEnded: boolean;
}

/** What the body after a head shows: the declared field whose boundary it uses, or a boundary that no field declares. */
interface Examination {
  declared?: ContentTypeField | undefined;
  found?: string | undefined;
}

/**
 * Corrects the heads of a message and its parts, and the boundaries, so that heads and body agree:
 *
 * - Of several fields (RFC 2045 allows one), the one whose boundary the body uses stays; without one, the first that is no
 *   multipart. mailsplit would take the first field and mailparser the last one.
 * - A multipart whose boundary is missing or not in the body gets the boundary that the body uses, or else is a text: RFC 2045 5.2
 *   assumes `text/plain` for an invalid field. The parser would drop the body.
 * - A field without a media type is the default, `text/plain` or in a digest `message/rfc822` (RFC 2046 5.1.5), except for files.
 * - White space after a boundary, which RFC 2046 5.1.1 permits, is removed.
 * - A multipart without its end ends at a boundary of an outer one (RFC 2046 5.1.2): the parser compares a line with two levels only.
 * - A head without an empty line ends before its last lines that are no fields.
 * - Fields in eight bits, or in a character set of seven bits, become UTF-8.
 * - A disposition without its type or separator, a transfer encoding with other signs, and parameters with comments are repaired.
 */
export class ContentTypeCorrector extends Transform {
  private pending: Buffer = Buffer.alloc(0);
  private inHead = true;
  /** In a body: `pending` begins with a line. */
  private isLineStart = false;
  /** A head with several fields or with a multipart, while its body is examined. */
  private undecided: { fields: string[]; types: ContentTypeField[] } | undefined;
  /** The multiparts of the current part, the outermost first, with those that have ended after the last boundary of an outer one. */
  private readonly multiparts: Multipart[] = [];
  /** The character set of the fields of the message. */
  private charset: string | undefined;
  /** The head is that of a part, not of the message. */
  private isPart = false;
  /** The multipart of the current part is a digest. */
  private isInDigest = false;
  private examined = 0;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    this.advance(false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.advance(true);
    if (this.pending.length > 0) this.push(this.pending);
    done();
  }

  private advance(isEnd: boolean): void {
    for (let isMore = true; isMore;) {
      if (this.undecided) isMore = this.decide(this.undecided, isEnd);
      else isMore = this.inHead ? this.readHead(isEnd) : this.readBody(isEnd);
    }
  }

  /** Forwards the first bytes of `pending`. */
  private forward(length: number): void {
    if (length > 0) this.push(this.pending.subarray(0, length));
    this.pending = this.pending.subarray(length);
  }

  private readHead(isEnd: boolean): boolean {
    const end = endOfHead(this.pending);
    if (end < 0) {
      if (!isEnd && this.pending.length <= MAX_HEAD) return false;
      this.inHead = false;
      return !isEnd;
    }
    const { fields: written, body } = splitHead(this.pending.subarray(0, end).toString('latin1'));
    const fields = written.map(repairField);
    const types = fields.flatMap((text, position) => contentTypeField(text, position) ?? []);
    this.inHead = false;
    this.isLineStart = true;
    this.pending = this.pending.subarray(end - body.length);
    if (types.some(({ type }) => type?.startsWith('multipart/')) || types.length > 1)
      this.undecided = { fields, types };
    else this.pushHead(fields, types, types[0]?.text);
    return true;
  }

  /**
   * Forwards a head with one Content-Type field, in the place of the first one, or with the default field.
   * @param text the field; undefined for a head without one
   */
  private pushHead(fields: readonly string[], types: readonly ContentTypeField[], text?: string): void {
    const [first] = types;
    const isInvalid = types.every(({ type }) => type === null) && !isHeadOfFile(fields, this.isPart);
    if (first && text !== undefined) {
      const isDefault = isInvalid && this.isInDigest;
      const field = isDefault ? MESSAGE : isInvalid ? asPlainText(first) : text;
      const positions = new Set(types.map(({ position }) => position));
      const others = (position: number): boolean => position === first.position || !positions.has(position);
      fields = fields.with(first.position, field).filter((_, position) => others(position));
    } else if (this.isInDigest && fields[0] !== '') fields = [MESSAGE, ...fields];
    const charset = charsetOfHead(fields, first && charsetOf(first)) ?? this.charset;
    if (!this.isPart) this.charset = charset;
    this.push(Buffer.from(fields.map((field) => toUtf8(field, charset)).join(''), 'latin1'));
  }

  private decide(
    { fields, types }: { fields: string[]; types: ContentTypeField[] },
    isEnd: boolean,
  ): boolean {
    const examination = this.examine(types, isEnd);
    if (!examination) return false;
    const { declared, found } = examination;
    const other = types.find(({ type }) => type !== null && !type.startsWith('multipart/'));
    const chosen = declared ?? other ?? types.find(({ type }) => type !== null) ?? types[0];
    this.undecided = undefined;
    if (!chosen) return true;
    let { text, boundary } = chosen;
    const isExamined = this.examined < MAX_EXAMINED;
    if (!declared && chosen.type?.startsWith('multipart/') && isExamined) {
      boundary = found;
      text = found === undefined ? asPlainText(chosen) : withBoundary(chosen, found);
    }
    this.pushHead(fields, types, text);
    if (boundary !== undefined && this.multiparts.length < MAX_LEVELS)
      this.multiparts.push({ type: chosen.type ?? '', boundary, hasEnded: false });
    return true;
  }

  /** Looks for a boundary in the lines of the body. @returns undefined if more of the body is needed */
  private examine(types: readonly ContentTypeField[], isEnd: boolean): Examination | undefined {
    const { pending } = this;
    const candidates = new Map(
      types.flatMap((type) => (type.boundary === undefined ? [] : [[type.boundary, type] as const])),
    );
    let found: string | undefined;
    for (
      let at = startsWithDashes(pending) ? 0 : lineWithDashes(pending, 0);
      at >= 0 && at < EXAMINED && this.examined < MAX_EXAMINED;
      at = lineWithDashes(pending, at)
    ) {
      const [line = '', next] = pending.toString('latin1', at, at + 2 * MAX_BOUNDARY_LINE).split('\n', 2);
      if (line.length > MAX_BOUNDARY_LINE) continue;
      if (next === undefined && !isEnd) break;
      const name = boundaryOf(line);
      const closed = name.replace(/--$/, '');
      const declared = candidates.get(name) ?? candidates.get(closed);
      const isOfParent = this.multiparts.some(({ boundary }) => boundary === name || boundary === closed);
      if (declared || isOfParent) {
        this.examined += at;
        return { declared, found };
      }
      if (name !== '' && CONTENT_FIELD.test(next ?? '')) found ??= name;
    }
    if (!isEnd && pending.length < EXAMINED && this.examined < MAX_EXAMINED) return undefined;
    this.examined += Math.min(pending.length, EXAMINED);
    return { found };
  }

  /** Forwards the body up to the head of the next part. */
  private readBody(isEnd: boolean): boolean {
    const { pending } = this;
    if (this.multiparts.length > 0) {
      if (this.isLineStart && pending.length < 2 && !isEnd) return false;
      for (
        let at = this.isLineStart ? 0 : lineWithDashes(pending, 0);
        at >= 0;
        at = lineWithDashes(pending, at)
      ) {
        const lineFeed = pending.indexOf(LF, at);
        const end = lineFeed < 0 && isEnd ? pending.length : lineFeed;
        if (end < 0 && pending.length - at <= MAX_BOUNDARY_LINE) {
          this.forward(at);
          this.isLineStart = true;
          return false;
        }
        if (end < 0 || end - at > MAX_BOUNDARY_LINE) continue;
        if (!this.readBoundary(pending.toString('latin1', at, end), at)) continue;
        this.pending = pending.subarray(end + 1);
        this.isLineStart = true;
        return true;
      }
    }
    // The line end before a line that may be a boundary stays.
    const kept = isEnd ? -1 : pending.subarray(-2).lastIndexOf(LF);
    this.forward(kept < 0 ? pending.length : pending.length - Math.min(2, pending.length) + kept);
    this.isLineStart = false;
    return false;
  }

  /** Forwards the body before a boundary, and the boundary. @param at its position @returns false for another line */
  private readBoundary(line: string, at: number): boolean {
    const name = boundaryOf(line);
    const { multiparts } = this;
    let level = levelOf(multiparts, name);
    const isEnd = level < 0 && name.endsWith('--');
    if (isEnd) level = levelOf(multiparts, name.slice(0, -2));
    const multipart = multiparts[level];
    if (!multipart) return false;
    this.forward(at);
    const lineEnd = line.endsWith('\r') ? '\r\n' : '\n';
    const inner = multiparts.splice(level + 1).filter(({ hasEnded }) => !hasEnded);
    const ends = inner.toReversed().map(({ boundary }) => `--${boundary}--${lineEnd}`);
    this.push(Buffer.from(`${ends.join('')}--${name}${lineEnd}`, 'latin1'));
    multipart.hasEnded = isEnd;
    this.inHead = !isEnd;
    this.isPart = true;
    this.isInDigest = !isEnd && multipart.type === 'multipart/digest';
    return true;
  }
}

/** The level of the innermost multipart with a boundary that has not ended, or else of one that has; -1 without one. */
function levelOf(multiparts: readonly Multipart[], boundary: string): number {
  const isOf = (one: Multipart): boolean => one.boundary === boundary;
  const open = multiparts.findLastIndex((one) => !one.hasEnded && isOf(one));
  return open >= 0 ? open : multiparts.findLastIndex(isOf);
}

/** The position of the next line after `from` that begins with `--`, or -1. */
function lineWithDashes(bytes: Buffer, from: number): number {
  const at = bytes.indexOf('\n--', from, 'latin1');
  return at < 0 ? -1 : at + 1;
}

const startsWithDashes = (bytes: Buffer): boolean => bytes[0] === DASH && bytes[1] === DASH;

/** The boundary that a line names; empty for any other line. */
const boundaryOf = (line: string): string => (line.startsWith('--') ? line.slice(2).trimEnd() : '');

/** @returns the position after the empty line, or of a boundary within the head; -1 if the head has not ended */
function endOfHead(bytes: Buffer): number {
  for (let at = 0; ;) {
    const end = bytes.indexOf(LF, at);
    if (end < 0) return -1;
    if (end === at || (end === at + 1 && bytes[at] === CR)) return end + 1;
    if (startsWithDashes(bytes.subarray(at, at + 2))) return at;
    at = end + 1;
  }
}
