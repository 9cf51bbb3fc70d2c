import { percentDecoded } from '../text/index.js';
import type { CardProperty } from './card.js';

/** One escaped text of RFC 6350, 3.4. A backslash before any other character stays: vCard 2.1 does not escape it. */
export function unescapeText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([nN,;:\\])/g, (_, char: string) => (char === 'n' || char === 'N' ? '\n' : char));
}

/** Most texts have none of them: a test costs less than a replacement that finds nothing. */
const ESCAPED = /[\\,;\r\n]/;

export function escapeText(text: string): string {
  if (!ESCAPED.test(text)) return text;
  return text.replace(/[\\,;]|\r\n?|\n/g, (char) => (char < ' ' ? '\\n' : `\\${char}`));
}

/** Splits at each `separator` without a backslash before it; the parts stay escaped. */
export function splitEscaped(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('\\')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/**
 * The names of properties and parameters as programs write them: RFC 6350 allows letters, digits and the hyphen only, KAddressBook writes
 * `X-messaging/irc-All`. The marks of content lines (`.`, `;`, `:`, `=`, `,`, `"`) and spaces are in none.
 */
export const NAME = "[A-Za-z0-9!#$%&'*+/^_|~-]+";
const WHOLE_NAME = new RegExp(`^${NAME}$`);

export const isPropertyName = (text: string): boolean => WHOLE_NAME.test(text);

const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** Removes control characters other than tab and line feed, lone surrogates and outer white space; null for an empty text. */
export function cleanText(text: string | null | undefined): string | null {
  if (!text) return null;
  const cleaned = text.replace(/\r\n?/g, '\n').replace(CONTROLS, '').toWellFormed().trim();
  return cleaned || null;
}

/** As `cleanText`, in one line. */
export function cleanLine(text: string | null | undefined): string | null {
  const cleaned = cleanText(text);
  if (!cleaned?.includes('\n')) return cleaned;
  // Not by one expression with `\s*`: its time is quadratic in a run of spaces.
  const lines = cleaned.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).join(' ');
}

/** An unescaped and cleaned text in one line. */
export function lineOf(value: string | undefined): string | null {
  return value ? cleanLine(unescapeText(value)) : null;
}

/** The cleaned texts without empty ones and duplicates. */
export function distinct(texts: Iterable<string | null | undefined>): string[] {
  return [...new Set([...texts].filter((text): text is string => Boolean(text)))];
}

/** A type in the form of an entry of TYPE, whose separator is the comma. */
export function typeToken(type: string): string {
  if (/^[a-z0-9-]+$/.test(type)) return type;
  return cleanLine(type.replaceAll(',', ' '))?.toLowerCase() ?? '';
}

/** A position as a URI (RFC 6350, 6.5.2), also of the two numbers of version 3.0 (RFC 2426, 3.4.2); undefined for another text. */
export function geoUri(text: string): string | undefined {
  if (/^geo:/i.test(text)) return text;
  const numbers = /^\s*(-?\d+(?:\.\d+)?)\s*;\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  return numbers ? `geo:${numbers[1]},${numbers[2]}` : undefined;
}

/** A position as the two numbers of version 3.0; undefined for a text that is no URI of a position. */
export function geoNumbers(text: string): string | undefined {
  const numbers = /^geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)(?:[,;].*)?$/i.exec(text);
  return numbers ? `${numbers[1]};${numbers[2]}` : undefined;
}

/**
 * Properties without a field, with each that a card of another version repeats as it is stored: version 3.0 has neither the parameters of
 * the URI of a position nor its VALUE, and links to media have a VALUE in version 3.0 only.
 */
export function withStoredSpelling(
  given: readonly CardProperty[],
  stored: readonly CardProperty[],
): CardProperty[] {
  const known = new Map(stored.toReversed().map((property) => [meaningOf(property), property]));
  return given.map((property) => {
    const meaning = meaningOf(property);
    return (meaning !== undefined && known.get(meaning)) || property;
  });
}

/** What a position or a link to media says in every version, as a key; undefined for other properties. */
function meaningOf({
  group,
  name,
  params: { VALUE: type, ...params },
  value,
}: CardProperty): string | undefined {
  const said = name === 'GEO' ? geoNumbers(geoUri(value) ?? '') : linkOf(name, type?.[0], value);
  const others = Object.entries(params).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return said === undefined ? undefined : JSON.stringify([name, said, group, others]);
}

const linkOf = (name: string, type = 'uri', value = ''): string | undefined =>
  MEDIA_FAMILY.has(name) && isUri(value) && /^(?:uri|url)$/i.test(type) ? value : undefined;

/** Whether a text begins like a URI. */
export const isUri = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(text);

/** Labels of Apple's address book: `item1.X-ABLabel:Summer house` names the property `item1.ADR`. */

/** `_$!<Home>!$_` is a label that Apple translates. */
const BUILT_IN = /^_\$!<([^>]*)>!\$_$/;

/** The text between the marks of a built-in label, in lower case; undefined for a label of the user's own. */
export function builtInLabel(label: string): string | undefined {
  return BUILT_IN.exec(label)?.[1]?.trim().toLowerCase();
}

/** Built-in labels of Apple whose types have another name. */
const LABEL_TYPES: ReadonlyMap<string, string[]> = new Map([
  ['mobile', ['cell']],
  ['iphone', ['cell', 'iphone']],
  ['homefax', ['home', 'fax']],
  ['workfax', ['work', 'fax']],
  ['otherfax', ['fax']],
]);

/** The types of an entry with this built-in label. */
export const typesOfLabel = (builtIn: string): string[] =>
  LABEL_TYPES.get(builtIn.replaceAll(/\s/g, '')) ?? [builtIn];

/** `spouse` becomes `_$!<Spouse>!$_`. */
export function formatBuiltInLabel(type: string): string {
  return `_$!<${type.charAt(0).toUpperCase()}${type.slice(1)}>!$_`;
}

/** Bytes within cards: data URIs (RFC 2397) and the image types of vCard 2.1 and 3.0. */

export interface Media {
  media_type: string | null;
  data: Uint8Array;
}

/** The bytes of a data URI; undefined for any other text. */
export function parseDataUri(uri: string): Media | undefined {
  const comma = uri.indexOf(',');
  if (comma < 0 || !/^data:/i.test(uri)) return undefined;
  const [type = '', ...parameters] = uri.slice('data:'.length, comma).split(';');
  const payload = uri.slice(comma + 1);
  const media_type = type.trim().toLowerCase() || null;
  if (parameters.at(-1)?.trim().toLowerCase() === 'base64')
    return { media_type, data: Buffer.from(payload, 'base64') };
  try {
    return { media_type, data: Buffer.from(decodeURIComponent(payload)) };
  } catch {
    return undefined;
  }
}

export function formatDataUri({ media_type, data }: Media): string {
  return `data:${media_type ?? ''};base64,${base64(data)}`;
}

export function base64(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}

/** `JPEG` and `image/jpeg` become `image/jpeg`; null for types that do not look like a media type. */
export function mediaTypeOf(type: string | undefined, family: string): string | null {
  const lower = type?.trim().toLowerCase();
  if (!lower) return null;
  const subtype = lower === 'jpg' ? 'jpeg' : lower;
  const full = subtype.includes('/') ? subtype : `${family}/${subtype}`;
  return /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(full) ? full : null;
}

/** The TYPE of vCard 3.0: `JPEG` for `image/jpeg`, the whole name for types outside the family. */
export function shortType(mediaType: string, family: string): string {
  return mediaType.startsWith(`${family}/`) ? mediaType.slice(family.length + 1).toUpperCase() : mediaType;
}

/** The family of media types that a property contains. */
export const MEDIA_FAMILY: ReadonlyMap<string, string> = new Map([
  ['PHOTO', 'image'],
  ['LOGO', 'image'],
  ['X-MS-CARDPICTURE', 'image'],
  ['SOUND', 'audio'],
  ['KEY', 'application'],
]);

/** Properties of fields with one value. */
export const SINGLE_PROPERTIES: ReadonlySet<string> = new Set(['FN', 'N', 'ORG', 'TITLE', 'TZ', 'LANG']);

/** Properties of fields with one value that a card may have several times, with a preference for each. */
export const PREFERABLE: ReadonlySet<string> = new Set(['FN', 'ORG', 'TITLE', 'TZ', 'LANG', 'PHOTO']);

/** Properties of which a card of version 3.0 has one value here; further values are written with a prefix. */
export const WRITTEN_ONCE: ReadonlySet<string> = new Set(['FN', 'N', 'BDAY', 'ANNIVERSARY']);
export const ALTERNATIVE = 'X-WORKSPACE-';

interface Preferred {
  name: string;
  params: ReadonlyMap<string, readonly string[]>;
}

/**
 * The preference of a property: 1 (most preferred) to 100, or infinity for one without PREF (RFC 6350, 5.3). The type `pref` of
 * version 3.0, and `PREF` alone in 2.1, is 1.
 */
export function preferenceOf({ params }: Pick<Preferred, 'params'>): number {
  const isPreferred = params.get('TYPE')?.some((types) => types.toLowerCase().split(',').includes('pref'));
  if (isPreferred) return 1;
  const pref = Number(params.get('PREF')?.[0] ?? Number.NaN);
  return pref >= 1 ? pref : Number.POSITIVE_INFINITY;
}

/** The properties with the most preferred one of each name that a field holds once at the beginning; the first of several equal ones. */
export function preferredFirst<Property extends Preferred>(properties: readonly Property[]): Property[] {
  const best = new Map<string, { property: Property; preference: number }>();
  for (const property of properties) {
    if (!PREFERABLE.has(property.name)) continue;
    const preference = preferenceOf(property);
    const known = best.get(property.name)?.preference ?? Number.POSITIVE_INFINITY;
    if (preference < known) best.set(property.name, { property, preference });
  }
  if (best.size === 0) return [...properties];
  const first = new Set([...best.values()].map(({ property }) => property));
  return [...first, ...properties.filter((property) => !first.has(property))];
}

/** The start of the data URI in which `related` has the card of an AGENT. */
const AGENT_CARD = 'data:text/vcard;charset=utf-8,';

export const agentUri = (card: string): string => AGENT_CARD + encodeURIComponent(card);

/** True for a whole card in several lines. A BEGIN line alone would nest the rest of the outer card. */
export function isCard(text: string): boolean {
  return /^BEGIN\s*:\s*VCARD\s*\n./i.test(text) && /\nEND\s*:\s*VCARD$/i.test(text);
}

/** The text of the card in a URI of `agentUri`; undefined for other URIs. */
export function agentCard(uri: string): string | undefined {
  const text = uri.startsWith(AGENT_CARD) ? percentDecoded(uri.slice(AGENT_CARD.length)) : '';
  return isCard(text) ? text : undefined;
}
