import { fold } from '../../lib/search-text/index.js';

/** Separators of words in names and addresses. */
const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/gu;

/**
 * Folds names and addresses for the directory: each word has one leading space, so that a space marks the beginning of a
 * word.
 */
export function foldWords(...texts: string[]): string {
  return texts
    .flatMap((text) => fold(text).split(SEPARATORS))
    .filter(Boolean)
    .map((word) => ` ${word}`)
    .join('');
}
