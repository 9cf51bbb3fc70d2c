import { charactersOf, cutText } from '../../lib/text/index.js';

/**
 * True for a Message-ID that is safe in a header. Others could be folded into lines that form headers of their own. RFC 6532 permits
 * characters beyond ASCII.
 */
export const isMessageId = (id: string): boolean => /^<[^<>\p{Z}\p{C}]+>$/u.test(id);

/** Ids of a thread that a message names and that are stored. */
const MAX_REFERENCES = 100;

/** At most 100 ids: the first, which begins the thread, and the last ones (RFC 5537 3.4.4). */
export const shortenReferences = (ids: readonly string[]): string[] =>
  ids.length <= MAX_REFERENCES ? [...ids] : [ids[0]!, ...ids.slice(1 - MAX_REFERENCES)];

/** The text in one line, without control characters. */
export const toOneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim();

/** True for a media type with parameters that is valid in a header (RFC 9110 8.3.1). */
export const isMediaType = (type: string): boolean =>
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?:\s*;[\t\x20-\x7e]*)?$/.test(type);

const MAX_NAME = 255;
const MAX_ENDING = 32;

/**
 * The file name of an attachment: without directories, which are those of another computer (RFC 2183, 2.3), in one line, truncated to 255
 * characters with its extension. '' for a name that has nothing else.
 */
export function attachmentName(written: string): string {
  const name = toOneLine(written)
    .replace(/^.*[/\\]/, '')
    .trim();
  if (/^\.*$/.test(name)) return '';
  if (charactersOf(name) <= MAX_NAME) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && name.length - dot <= MAX_ENDING ? name.slice(dot) : '';
  return cutText(name, MAX_NAME - charactersOf(ending)) + ending;
}

/** Replaces U+0000 and lone surrogates, which PostgreSQL cannot store, by U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Cleans all strings of a JSON value, including member names. */
export function cleanTexts<T>(value: T): T {
  if (typeof value === 'string') return cleanText(value) as T;
  if (Array.isArray(value)) return value.map((item) => cleanTexts<unknown>(item)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), cleanTexts<unknown>(item)]),
  ) as T;
}
