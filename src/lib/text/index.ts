export { addressForms, addressKey } from './addresses.js';

/**
 * Anything but spaces, controls, marks without a base, fillers (U+3164, U+2800), the empty note head (U+1D159) and other invisible characters. Characters that are
 * private, or newer than the Unicode of this Node, count as visible.
 */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\p{Cc}\p{Cf}\p{Cs}\p{M}]/u;

/** Whether a text has a visible character: whether a name, a title or a required answer counts as filled in. */
export const hasVisibleCharacter = (text: string): boolean => VISIBLE.test(text);

/** The text, trimmed; '' without a visible character. */
export const filledText = (text: string): string => (hasVisibleCharacter(text) ? text.trim() : '');

/** The text as one line, without control characters and marks that change the direction of text. */
export const toLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();

const OTHER_DIGITS = /[\p{Nd}--[0-9]]/gv;

/** The text with its digits of any script in ASCII. A run of digits in Unicode consists of blocks of ten that begin with zero. */
export const toAsciiDigits = (text: string): string =>
  text.replaceAll(OTHER_DIGITS, (digit) => {
    const code = digit.codePointAt(0) as number;
    let first = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
    return String((code - first) % 10);
  });

/**
 * The text of a telephone number with its digits of any script in ASCII, without invisible characters such as the marks of direction
 * that telephones copy with a number.
 */
export const asciiDigits = (text: string): string =>
  toAsciiDigits(text.normalize('NFKC').replaceAll(/\p{Cf}/gu, ''));

/** The zeros of the decimal digits of each script in the Basic Multilingual Plane; the nine other digits follow each. */
const ZEROS = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
  0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50,
  0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

/** Digits of all scripts and the same digits in ASCII, for `translate` of SQL. */
export const SCRIPT_DIGITS = {
  from: ZEROS.flatMap((zero) => Array.from({ length: 10 }, (_, n) => String.fromCharCode(zero + n))).join(''),
  to: '0123456789'.repeat(ZEROS.length),
};

/** The time of a normalisation grows with the square of a run of marks. Longer text is none of the names and words that are compared. */
export const MAX_COMPOSED = 1_000;

/** Composed text (Unicode, UAX 15, NFC), in which canonical equivalents are equal; longer text as it is. */
export const composeText = (text: string): string =>
  text.length > MAX_COMPOSED ? text : text.normalize('NFC');

/**
 * The form in which texts are compared regardless of case: the full folding of Unicode (`ß` is `SS`, `ς` is `Σ`), without variants of
 * compatibility such as ligatures and width. Accents count. Longer text keeps its variants.
 */
export function foldCase(text: string): string {
  // The capital ẞ is its own upper case.
  const plain = text.replaceAll('\u1e9e', '\u00df');
  if (plain.length > MAX_COMPOSED) return plain.toUpperCase();
  // NFKC would make a space of an acute accent, which people type as an apostrophe.
  return plain.replaceAll('\u00b4', "'").normalize('NFKC').toUpperCase();
}

/** Hiragana and katakana have the same order. */
const KANA_STEP = 0x60;

/** The text with its hiragana as katakana: users type a word in either. */
export const toKatakana = (text: string): string =>
  text.replaceAll(/[\u3041-\u3096]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + KANA_STEP));

/** The text with its katakana as hiragana. */
export const toHiragana = (text: string): string =>
  text.replaceAll(/[\u30a1-\u30f6]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - KANA_STEP));

/** Whether the text has a letter of kana that both have. */
export const hasKana = (text: string): boolean => /[\u3041-\u3096\u30a1-\u30f6]/.test(text);

/** The text, and its forms in hiragana and katakana: users type the reading of a name or a word in either. */
export const inBothKana = (text: string): string[] =>
  hasKana(text) ? [...new Set([text, toHiragana(text), toKatakana(text)])] : [text];

/** The letters of hiragana that katakana has too. */
export const HIRAGANA = Array.from({ length: 0x3096 - 0x3041 + 1 }, (_, n) =>
  String.fromCharCode(0x3041 + n),
).join('');

/**
 * A label, category or heading in the one form that it has: composed, without blanks around it. Blanks alone stay: they are
 * no label.
 */
export const labelOf = (text: string): string => composeText(text).trim() || text;

/** Labels in their one form, each once. */
export const labelsOf = (texts: readonly string[]): string[] => inOneForm(texts) as string[];

/** Input that should be a label or a list of labels, as far as it is. */
export function inOneForm(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map(inOneForm))];
  return typeof value === 'string' ? labelOf(value) : value;
}

/** Invisible characters, without joiners in words of scripts that need them (RFC 5892, A.1 and A.2). */
const INVISIBLE = /(?!(?<=[[\p{L}\p{M}]--\p{ASCII}])[\u200c\u200d](?=[[\p{L}\p{M}]--\p{ASCII}]))\p{Cf}/gv;
const MAILTO = /^mailto:([^?]*)/i;
/** An address with a name (RFC 5322, 3.4), and one between angle brackets. */
const NAMED = /^(?:[^<>@]*|"[^"]*" *)<([^<>\s@]+@[^<>\s@]+)>$/;
/** Characters of a text that may be an address; of a name, a link and an address some hundreds. */
const MAX_PASTED = 2_000;

/**
 * The e-mail address in a text that a user pasted: a link (`mailto:`, RFC 6068) and an address with a name become the address. Spaces
 * around it and invisible characters, which programs copy with it, are removed. Other text is only trimmed.
 */
export function mailAddress(text: string): string {
  if (text.length > MAX_PASTED) return text.trim();
  const plain = text.replaceAll(INVISIBLE, '').trim();
  const named = NAMED.exec(plain)?.[1] ?? plain;
  const link = MAILTO.exec(named)?.[1];
  const address = link === undefined ? named : percentDecoded(link).replaceAll(INVISIBLE, '').trim();
  return /^[^@]+@[^\s@]+$/.test(address) ? address : text.trim();
}

/** Number of characters: of code points, so that an ideograph or emoji beyond U+FFFF is one. */
export function charactersOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * The first characters of a text, well-formed. A cut between the halves of a surrogate pair would leave text that PostgreSQL rejects.
 * @param max number of code points, as `charactersOf` counts
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  let end = 0;
  let count = 0;
  for (const character of text) {
    if (count === max) break;
    count += 1;
    end += character.length;
  }
  return text.slice(0, end).toWellFormed();
}

/** The first characters of a longer text, with an ellipsis for the others. @param max number of code points before the ellipsis */
export const shortenText = (text: string, max: number): string =>
  charactersOf(text) > max ? `${cutText(text, max)}…` : text;

/** The text without its percent-encoding (RFC 3986, 2.1); as it is where that is malformed. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A country code (ITU-T E.164). Longer contexts only say where a number is valid, and are no part of it (RFC 3966, 5.1.5). */
const COUNTRY_CODE = /^\+\d{1,3}$/;

/**
 * A tel URI (RFC 3966). A number in the context of a country begins with its code. One with the national prefix 0 stays as it is: some
 * countries keep this digit after the code. Undefined for other texts.
 */
export function telLink(text: string): { number: string; extension: string | null } | undefined {
  const found = /^\s*tel:([^;]+)(;.*)?$/is.exec(text);
  if (!found) return undefined;
  const [, subscriber = '', parameters = ''] = found;
  const of = (name: string): string | undefined =>
    new RegExp(`;${name}=([^;]+)`, 'i').exec(parameters)?.[1]?.trim();
  const context = of('phone-context');
  const number = percentDecoded(subscriber).trim();
  const isNational = COUNTRY_CODE.test(context ?? '') && /^\(?[1-9]/.test(number);
  if (number === '') return undefined;
  return { number: isNational ? `${context}${number}` : number, extension: of('ext')?.slice(0, 50) ?? null };
}
