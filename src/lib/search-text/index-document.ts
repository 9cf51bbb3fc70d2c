import { setImmediate } from 'node:timers/promises';
import { beginningOf } from './highlight.js';
import { textPieces } from '../html/index.js';
import { SearchVector } from './search-vector.js';

/** Version of the rules by which texts become words. With a new version all documents are indexed again. */
export const SEARCH_RULES = 2;

/** Characters of text that are indexed; the rest is not found. */
const MAX_TEXT = 1_000_000;
/** Characters after which the event loop runs: one to three milliseconds of work. */
const TURN = 16_384;

/** A document to index, and its readers. */
export interface SearchDocument {
  readers: readonly string[];
  title: string;
  labels?: readonly string[];
  html: string;
}

/** The index row of a document. */
export interface IndexedDocument {
  /** The text form of its `tsvector`. */
  vector: string;
  /** The beginning of its text. */
  beginning: string;
}

/** Words and beginning of a document. */
export async function indexed(document: SearchDocument): Promise<IndexedDocument> {
  return { vector: await vectorOf(document), beginning: beginningOf(document.html) };
}

/** The text form of the `tsvector` of a document. Between parts of a long one the event loop runs. */
export async function vectorOf({ readers, title, labels = [], html }: SearchDocument): Promise<string> {
  const vector = new SearchVector(readers);
  vector.add(title, 'A');
  for (const label of labels) vector.add(label, 'B');
  let read = 0;
  let turn = 0;
  let first = true;
  for (const piece of textPieces(html)) {
    vector.add(piece, 'D', !first);
    first = false;
    read += piece.length;
    turn += piece.length;
    if (read >= MAX_TEXT || vector.full) break;
    if (turn >= TURN) {
      turn = 0;
      await setImmediate();
    }
  }
  return vector.toString();
}
