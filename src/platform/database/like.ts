import { replaceJoiners } from '../../lib/search-text/index.js';
import {
  composeText,
  foldCase,
  hasKana,
  HIRAGANA,
  MAX_COMPOSED,
  SCRIPT_DIGITS,
  toAsciiDigits,
  toKatakana,
} from '../../lib/text/index.js';

/** The LIKE pattern of a text (NFC): its wildcards are escaped, and any apostrophe or hyphen matches another one or a space. */
export const likeText = (text: string): string =>
  replaceJoiners(composeText(text).replaceAll(/[\\%_]/g, String.raw`\$&`), '_');

/** The LIKE pattern of all composed texts that contain this one. */
export const likePattern = (text: string): string => `%${likeText(text)}%`;

/** SQL for the form in which `foldCase` compares texts. The collation of ICU has the full folding, and that of the database does not; most titles are ASCII and need neither. */
const caselessSql = (text: string): string =>
  `CASE WHEN octet_length(${text}) = length(${text}) THEN upper(${text} COLLATE "C")
        WHEN length(${text}) > ${MAX_COMPOSED} THEN upper(translate(${text}, 'ẞ', 'ß') COLLATE "und-x-icu") COLLATE "C"
        ELSE upper(normalize(translate(${text}, 'ẞ´', 'ß'''), NFKC) COLLATE "und-x-icu") COLLATE "C" END`;

/** SQL for whether a text matches a pattern of `caselessPattern`. */
export const likeCaseless = (text: string, pattern: string): string => `${caselessSql(text)} LIKE ${pattern}`;

/** The pattern of texts that contain this one, for `likeCaseless`. */
export const caselessPattern = (text: string): string => likePattern(foldCase(text));

/** Whether a text has another spelling, which readers take for the same: in hiragana or katakana, in digits of other scripts. */
export const hasSpellings = (text: string): boolean => hasKana(text) || /\p{Nd}/u.test(text);

/** The text in the spelling in which SQL compares such texts. */
const inOneSpelling = (text: string): string => toKatakana(toAsciiDigits(text));

const OTHERS = { from: HIRAGANA + SCRIPT_DIGITS.from, to: toKatakana(HIRAGANA) + SCRIPT_DIGITS.to };
const RANGES = [...(SCRIPT_DIGITS.from.match(/.{10}/gsu) ?? []), HIRAGANA].map(
  (each) => `${each[0]}-${each.at(-1)}`,
);

/** SQL for a text in that spelling. Few texts pay for the replacement, which compares each character with all others. */
const spelledSql = (text: string, shown = text): string =>
  `CASE WHEN (${text}) ~ '[${RANGES.join('')}]' THEN translate(${shown}, '${OTHERS.from}', '${OTHERS.to}') ELSE ${shown} END`;

/**
 * SQL for a stored text, folded, to compare it with patterns of `spelledPattern`. Texts are stored with the kana, and by earlier versions with
 * the digits, that they have.
 * @param pattern SQL of the pattern as text
 */
export const spelledFor = (pattern: string, text: string): string =>
  `(CASE WHEN (${pattern}) ~ '[0-9ァ-ヶ]' THEN ${spelledSql(text)} ELSE ${text} END)`;

/** The pattern of texts that contain this folded one, for `spelledFor`. */
export const spelledPattern = (text: string): string => likePattern(inOneSpelling(text));

/** The pattern of texts that begin with this folded one, without its last wildcard, for `spelledFor`. */
export const spelledText = (text: string): string => likeText(inOneSpelling(text));

/** SQL for whether a title contains a text, regardless of case and spelling. @param bind makes a placeholder of a value */
export function containsSql(title: string, text: string, bind: (value: unknown) => string): string {
  if (!hasSpellings(text)) return likeCaseless(title, bind(caselessPattern(text)));
  return `${spelledSql(title, caselessSql(title))} LIKE ${bind(spelledPattern(foldCase(text)))}`;
}

/**
 * SQL for whether an array has all labels of a parameter. Labels of earlier versions may be decomposed.
 * @param labels placeholder of labels in their one form
 */
export const hasLabels = (column: string, labels: string): string =>
  `NOT EXISTS (SELECT FROM unnest(${labels}::text[]) wanted WHERE NOT ${column} && ARRAY[wanted, normalize(wanted, NFD)])`;
