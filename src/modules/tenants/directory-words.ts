import { fold } from '../../lib/search-text/index.js';

/** Between the words of names and addresses. */
const SEPARATORS = /[^\p{L}\p{N}\p{M}]+/gu;

/**
 * The words of names and addresses as the directory compares them: folded, one space before each, none at the end. The
 * beginnings of words are then what stands after a space.
 */
export function directoryWords(...texts: string[]): string {
  return texts
    .flatMap((text) => fold(text).split(SEPARATORS))
    .filter(Boolean)
    .map((word) => ` ${word}`)
    .join('');
}
