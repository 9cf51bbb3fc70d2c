import { composeText, MAX_COMPOSED } from '../../lib/text/index.js';

/** Escapes the wildcards of LIKE. */
export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** The LIKE pattern of all composed texts (NFC) that contain this one. */
export const likePattern = (text: string): string => `%${escapeLike(composeText(text))}%`;

/** SQL for the composed form of a text, as `composeText` makes it: longer text stays. */
export const composedSql = (text: string): string =>
  `CASE WHEN length(${text}) > ${MAX_COMPOSED} THEN ${text} ELSE normalize(${text}) END`;

/**
 * SQL for whether an array has all labels of a parameter. Labels of earlier versions may be decomposed.
 * @param labels placeholder of labels in their one form
 */
export const hasLabels = (column: string, labels: string): string =>
  `NOT EXISTS (SELECT FROM unnest(${labels}::text[]) wanted WHERE NOT ${column} && ARRAY[wanted, normalize(wanted, NFD)])`;
