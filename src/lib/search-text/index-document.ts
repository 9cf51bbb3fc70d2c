import { setImmediate } from 'node:timers/promises';
import { Beginning } from './highlight.js';
import { textPieces } from '../html/index.js';
import { SearchVector } from './search-vector.js';

/** Version of the rules by which texts become words. With a new version all documents are indexed again. */
export const SEARCH_RULES = 2;

/** Characters of text that are indexed; the rest is not found. */
const MAX_TEXT = 1_000_000;
/** Characters after which the event loop runs: one to three milliseconds of work. */
const MAX_UNINTERRUPTED = 16_384;

/** A document to index, and its readers. */
export interface SearchDocument {
  readers: readonly string[];
  title: string;
  labels?: readonly string[];
  html: string;
}

/** The index row of a document. */
export interface IndexedDocument {
  /** The binary form of its `tsvector`. */
  vector: Buffer;
  /** The beginning of its text. */
  beginning: string;
}

/** The index row of a document. The event loop runs between parts of a long document. */
export async function indexed(document: SearchDocument): Promise<IndexedDocument> {
  const { vector, beginning } = await collected(document);
  return { vector: vector.toBuffer(), beginning: beginning.toString() };
}

/** The text form of the `tsvector` of a document. */
export async function vectorOf(document: SearchDocument): Promise<string> {
  return (await collected(document)).vector.toString();
}

async function collected({
  readers,
  title,
  labels = [],
  html,
}: SearchDocument): Promise<{ vector: SearchVector; beginning: Beginning }> {
  const vector = new SearchVector(readers);
  vector.add(title, 'A');
  for (const label of labels) vector.add(label, 'B');
  const beginning = new Beginning();
  let read = 0;
  let uninterrupted = 0;
  for (const piece of textPieces(html)) {
    beginning.add(piece);
    const isIndexed = read === 0 || (read < MAX_TEXT && !vector.isFull);
    if (isIndexed) vector.add(piece, 'D', read > 0);
    else if (beginning.isFull) break;
    read += piece.length;
    uninterrupted += piece.length;
    if (uninterrupted >= MAX_UNINTERRUPTED) {
      uninterrupted = 0;
      await setImmediate();
    }
  }
  return { vector, beginning };
}
