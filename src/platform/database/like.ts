import { replaceJoiners } from '../../lib/search-text/index.js';
import { composeText, MAX_COMPOSED } from '../../lib/text/index.js';

/** The LIKE pattern of a text (NFC): its wildcards are escaped, and any apostrophe or hyphen matches another one or a space. */
export const likeText = (text: string): string =>
  replaceJoiners(composeText(text).replaceAll(/[\\%_]/g, String.raw`\$&`), '_');

/** The LIKE pattern of all composed texts that contain this one. */
export const likePattern = (text: string): string => `%${likeText(text)}%`;

/** SQL for the composed form of a text, as `composeText` makes it: longer text stays. */
export const composedSql = (text: string): string =>
  `CASE WHEN length(${text}) > ${MAX_COMPOSED} THEN ${text} ELSE normalize(${text}) END`;

/**
 * SQL for whether an array has all labels of a parameter. Labels of earlier versions may be decomposed.
 * @param labels placeholder of labels in their one form
 */
export const hasLabels = (column: string, labels: string): string =>
  `NOT EXISTS (SELECT FROM unnest(${labels}::text[]) wanted WHERE NOT ${column} && ARRAY[wanted, normalize(wanted, NFD)])`;
