import { setImmediate } from 'node:timers/promises';
import { beginningOf } from './highlight.js';
import { textPieces } from '../html/index.js';
import { SearchVector } from './search-vector.js';

/** Raised with every change of how texts become words, so that documents indexed under older rules are indexed again. */
export const SEARCH_RULES = 1;

/** Characters of text that are searched; what comes after is not found. */
const MAX_TEXT = 1_000_000;
/** Characters after which requests get their turn: one to three milliseconds of work. */
const TURN = 16_384;

/** What a search finds, and who may find it. */
export interface SearchDocument {
  readers: readonly string[];
  title: string;
  html: string;
}

/** What is kept of a document for a search. */
export interface IndexedDocument {
  /** The text form of its `tsvector`. */
  vector: string;
  /** How its text begins. */
  beginning: string;
}

/** Words and beginning of a document. */
export async function indexed(document: SearchDocument): Promise<IndexedDocument> {
  return { vector: await vectorOf(document), beginning: beginningOf(document.html) };
}

/** The text form of a document's `tsvector`. A long one is read in turns, between which the event loop is free. */
export async function vectorOf({ readers, title, html }: SearchDocument): Promise<string> {
  const vector = new SearchVector(readers);
  vector.add(title, 'A');
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
