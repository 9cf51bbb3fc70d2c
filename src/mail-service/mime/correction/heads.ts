import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { byteOrderMarkOf, decodeText, isSevenBits, MARK_BYTES } from '../../../lib/content-lines/index.js';
import { addressList } from '../address-list.js';
import { escapedCharset, isAsciiName, UU_ENCODINGS } from './decoders.js';
import { repairParameters, splitValue } from './parameters.js';

/** The name of a field (RFC 5322 2.2; 4.5 permits blanks before the colon), or the beginning of one whose colon is missing. */
const FIELD = /^(?:[\x21-\x39\x3b-\x7e]+[ \t]*:|content-[\w-]+\s)/i;
/** Of an mbox file; within a head it is quoted. */
const MBOX = /^>?From /;
const PARAMETER = /^[\w*-]+\s*=/;
const EMPTY_FIELD = /^[\w-]+:\s*$/;

/**
 * The fields of a head with their line ends; folded lines belong to their field, and so do lines that are not folded but continue one:
 * parameters after a semicolon, and the first line of a value. The last one is the empty line.
 */
export interface Head {
  fields: string[];
  /** The beginning of the body, as it is written: lines that are no fields and that the sender has not separated from the head. */
  body: string;
}

/** @param text up to the empty line, or to a boundary within the head; one character a byte */
export function splitHead(text: string): Head {
  const all: string[][] = [];
  let isOpen = false;
  let isEmpty = false;
  // Some programs write a byte order mark at the beginning of a file.
  const mark = byteOrderMarkOf(Buffer.from(text.slice(0, MARK_BYTES), 'latin1'));
  const written = mark ? text.slice(mark.length) : text;
  for (const line of written.split(/(?<=\n)(?![ \t])/)) {
    const continues =
      (isOpen && PARAMETER.test(line)) || (isEmpty && line.trim() !== '' && !FIELD.test(line));
    if (continues) all.at(-1)?.push(line);
    else all.push([line]);
    isOpen = line.trimEnd().endsWith(';');
    isEmpty = EMPTY_FIELD.test(line);
  }
  // A tab folds the lines of a field.
  const fields = all.map((pieces) => pieces.join('\t'));
  const last = fields.findLastIndex((field) => FIELD.test(field) || MBOX.test(field));
  const body = all
    .slice(last + 1)
    .flat()
    .join('');
  if (body.trim() === '') return { fields, body: '' };
  return { fields: [...fields.slice(0, last + 1), '\r\n'], body };
}

const DISPOSITION = /^content-disposition[ \t]*:/i;
const ENCODING = /^content-transfer-encoding[ \t]*:/i;
/** The encodings that need a decoder, by their letters and digits. */
const ENCODINGS = new Map([
  ['base64', 'base64'],
  ['quotedprintable', 'quoted-printable'],
  ...[...UU_ENCODINGS].map((name) => [name.replace('-', ''), name] as const),
]);
/** The beginning of a name of them, also after a quote or a bracket. */
const ENCODING_NAME = /^[^\w]{0,9}(base[-_]?64|quoted[-_ ]?printable|(?:x-)?uu(?:encode|e))(?![\w-])/i;

/** Repairs a field in the forms of programs that do not know the grammar of RFC 2045, 2047 and 2183. */
export function repairField(written: string): string {
  const charset = HIGH.test(written) ? undefined : escapedCharset(written);
  // Quotes and backslashes may be halves of characters.
  const field = charset === undefined ? written : toUtf8(written, charset);
  const [encoding = ''] = ENCODING.exec(field) ?? [];
  if (encoding !== '') return repairEncoding(field, encoding);
  const [disposition = ''] = DISPOSITION.exec(field) ?? [];
  return disposition === '' ? field : repairDisposition(field, disposition);
}

function repairEncoding(field: string, name: string): string {
  const { value } = splitValue(field, name.length);
  const written = ENCODING_NAME.exec(value)?.[1];
  const known = written && ENCODINGS.get(written.toLowerCase().replace(/[-_ ]/g, ''));
  return known && field.slice(name.length).trim().toLowerCase() !== known ? `${name} ${known}\r\n` : field;
}

/** A Content-Disposition with parameters only is that of an attachment. */
function repairDisposition(field: string, name: string): string {
  const { value, parameters } = splitValue(field, name.length);
  const written = repairParameters(parameters);
  const type = value === '' && written.startsWith(';') ? 'attachment' : value;
  return field.slice(name.length).trimStart() === type + written ? field : `${name} ${type}${written}`;
}

const HIGH = /[\x80-\xff]/;
const HIGHS = /[\x80-\xff]/g;
const QUOTED_WORD = /=\?([^?\s]{1,40})\?q\?[^?]{1,1000}\?=/gi;
const WORD = /=\?([\w:.-]{1,40})(?:\*[\w-]{1,20})?\?[bq]\?/i;
/** Character sets in which bytes above 0x7F or fields cannot be, or that are tried first. */
const USELESS = /^(?:utf-?8|utf-?16.*|iso-?2022.*|hz.*)$/i;
const isUseless = (charset: string): boolean => USELESS.test(charset) || isAsciiName(charset);

/**
 * The character set of a head for fields in eight bits that are not UTF-8: that of its text, or of an encoded word. RFC 6532 permits
 * UTF-8 only; older programs write their own set.
 * @param declared by the Content-Type field
 */
export function charsetOfHead(fields: readonly string[], declared?: string): string | undefined {
  if (declared !== undefined && (isSevenBits(declared) || !isUseless(declared))) return declared;
  for (const field of fields) {
    const charset = WORD.exec(field)?.[1];
    if (charset !== undefined && !isUseless(charset)) return charset;
  }
  return undefined;
}

/** The bytes that shift from ASCII to a character set of seven bits. */
const SHIFTS = ['\x0e', '\x1b', '~{'];

/** An encoded word whose characters have no shift back to ASCII: its end is theirs. Others are decoded as a whole, also where `_` is half of one. */
// oxlint-disable-next-line no-control-regex -- exactly the shifts in question
const OPEN_WORD = /=\?[\w:.*-]{1,60}\?[bq]\?[^?]{0,1000}\x1b\$[^\x1b\s]*\?=(?!\S)/i;

const ADDRESS_FIELD = /^(?:from|sender|reply-to|to|cc|bcc)[ \t]*:/i;
const SENDER_FIELD = /^(?:from|sender|reply-to)[ \t]*:/i;
/** An address that characters of other sets hardly form by chance. */
const INTERNET = /.@(?:\[|[^@]+\.[^@])/;
/** Characters of a field whose addresses are compared: about 2,000 addresses. */
const MAX_COMPARED = 131_072;

/** The addresses of a field; characters beyond ASCII, which depend on the character set, are alike. */
function addressesOf(value: string, isStrict: boolean): string[] {
  const list = addressList(value, isStrict).flatMap((entry) => entry.group ?? entry);
  const addresses = list.map(({ address = '' }) => address.replace(/[\x80-\xff]+/g, '?'));
  return addresses.filter((address) => INTERNET.test(address));
}

/**
 * Whether a field has the same addresses when it is decoded. Programs that verify the sender read ASCII, also the parentheses of shifts and
 * the second bytes of characters: the decoded field of a sender has exactly the addresses that they find, and one of recipients loses none.
 * False for a field that is too long to compare.
 */
function keepsAddresses(written: string, decoded: string): boolean {
  const [name = ''] = ADDRESS_FIELD.exec(written) ?? [];
  if (name === '') return true;
  if (written.length > MAX_COMPARED) return false;
  const isSender = SENDER_FIELD.test(name);
  const found = addressesOf(written.slice(name.length), isSender);
  const kept = addressesOf(decoded.slice(name.length), isSender);
  if (isSender) return isDeepStrictEqual(found, kept);
  const known = new Set(kept);
  return found.every((address) => known.has(address));
}

/**
 * A field in UTF-8, one character a byte. Bytes of an encoded word are in its own character set, others in `charset`, or in Windows-1252.
 */
export function toUtf8(written: string, charset?: string): string {
  // In HZ, the line end after `~` is none.
  const field = written.replace(/\r?\n$/, '');
  const isOfSevenBits = charset !== undefined && /^(?:iso-?2022|hz)/i.test(charset);
  const isShifted = isOfSevenBits && SHIFTS.some((shift) => field.includes(shift));
  const isHigh = HIGH.test(field);
  if (isHigh ? isMostlyUtf8(Buffer.from(field, 'latin1')) : !isShifted) return written;
  const words = field.replace(QUOTED_WORD, (word) =>
    word.replace(HIGHS, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase()}`),
  );
  const decode = (by?: string): string => Buffer.from(decodeText(words, by)).toString('latin1');
  const decoded = decode(isShifted && OPEN_WORD.test(field) ? undefined : charset);
  return (keepsAddresses(field, decoded) ? decoded : decode()) + written.slice(field.length);
}

/** True for UTF-8 of which a character may have been cut off, as in a field that was too long. */
function isMostlyUtf8(bytes: Buffer): boolean {
  if (isUtf8(bytes)) return true;
  const text = bytes.toString();
  return (text.match(/[^\0-\x7f\ufffd]/gu) ?? []).length > 2 * (text.match(/\ufffd/g) ?? []).length;
}
