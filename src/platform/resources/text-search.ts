import { And, type FindOperator, Like } from 'typeorm';
import { fold } from '../../lib/search-text/index.js';
import { inBothKana } from '../../lib/text/index.js';
import { likePattern } from '../database/like.js';

// Search in small collections of one owner: a list filters by a column with the normalised text of an item. Large collections,
// and those with highlighted hits, use `platform/search`.

/** The text to store in the search column: no case, no accents, and kana in its two forms. */
export const searchText = (...fields: (string | null | undefined)[]): string =>
  inBothKana(fold(fields.filter(Boolean).join(' '))).join(' ');

/** Matches rows whose search column contains each word of a query; undefined for a query without words. */
export function containsWords(query: string | undefined): FindOperator<string> | undefined {
  const words = fold(query ?? '')
    .split(/\s+/)
    .filter(Boolean);
  const patterns = words.map((word) => Like(likePattern(word)));
  return patterns.length === 0 ? undefined : And(...patterns);
}
