import { replaceJoiners } from '../../lib/search-text/index.js';
import { composeText, foldCase, hasKana, HIRAGANA, MAX_COMPOSED, toKatakana } from '../../lib/text/index.js';

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

/** SQL for whether a title contains a text, regardless of case and, in Japanese, of the kana. @param bind makes a placeholder of a value */
export function containsSql(title: string, text: string, bind: (value: unknown) => string): string {
  if (!hasKana(text)) return likeCaseless(title, bind(caselessPattern(text)));
  // Few titles pay for the replacement, which compares each character with all kana.
  const hiragana = `'[${HIRAGANA[0]}-${HIRAGANA.at(-1)}]'`;
  const inKatakana = `CASE WHEN ${title} ~ ${hiragana}
         THEN translate(${caselessSql(title)}, '${HIRAGANA}', '${toKatakana(HIRAGANA)}') ELSE ${caselessSql(title)} END`;
  return `${inKatakana} LIKE ${bind(caselessPattern(toKatakana(foldCase(text))))}`;
}

/**
 * SQL for whether an array has all labels of a parameter. Labels of earlier versions may be decomposed.
 * @param labels placeholder of labels in their one form
 */
export const hasLabels = (column: string, labels: string): string =>
  `NOT EXISTS (SELECT FROM unnest(${labels}::text[]) wanted WHERE NOT ${column} && ARRAY[wanted, normalize(wanted, NFD)])`;
