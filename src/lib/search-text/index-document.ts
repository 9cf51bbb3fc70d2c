import { textPieces } from '../html/index.js';
import { CompoundReader } from './compounds.js';
import { Beginning } from './highlight.js';
import { cut, pairs, quoteLexeme, readerLexeme, SpanReader, UNPLACED } from './tokens.js';
import { waitForSlice } from '../turns/index.js';

/** PostgreSQL keeps positions up to this one and rejects vectors of 1 MB. */
const MAX_POSITION = 16_383;
const MAX_BYTES = 900_000;
/** Bytes of a lexeme beside its text and its places: four of the entry, two each for the number of places and for alignment. */
const ENTRY_BYTES = 8;
/** Further occurrences of a word do not change its rank. */
const WORD_POSITIONS = 20;
/** Pairs keep as many positions as PostgreSQL can store, because a match depends on whether two pairs are adjacent. */
const PAIR_POSITIONS = 255;
/** Positions between two texts, so that nothing matches across the end of one and the beginning of the next. */
const GAP = 8;

/** A: titles. B: labels. D: bodies. */
export type Weight = 'A' | 'B' | 'D';

/** Bits of a weight in the binary form of a place, above the 14 bits of the position. */
const WEIGHT_BITS = { A: 3 << 14, B: 2 << 14, D: 0 } as const;
const WEIGHT_LETTERS = ['', 'C', 'B', 'A'] as const;
const POSITION_MASK = 0x3fff;

/** Places of a lexeme in ascending order: position and weight as in the binary form of a `tsvector`. */
type Places = number[];

/** Collects the lexemes of a document and writes them as a `tsvector`. */
export class SearchVector {
  private readonly lexemes = new Map<string, Places>();
  private position = 0;
  private bytes = 0;

  /**
   * @param readers ids of users with access, also repeated; their lexemes are added first, so that a long text leaves space for them
   */
  constructor(readers: readonly string[]) {
    for (const reader of new Set(readers)) this.put(readerLexeme(reader));
  }

  /** True when the vector has no space for further words. */
  get isFull(): boolean {
    return this.bytes >= MAX_BYTES;
  }

  /** Adds a text, with a gap after the previous one unless it `continues` that text. */
  add(text: string, weight: Weight, continues = false): void {
    if (!continues) this.position += GAP;
    const reader = new SpanReader(text);
    const compounds = new CompoundReader(text);
    while (reader.next()) {
      for (const compound of compounds.add(reader)) this.place(cut(compound.text), weight, WORD_POSITIONS);
      for (const token of reader.tokens) {
        if (token.kind === 'word') {
          this.place(token.text, weight, WORD_POSITIONS);
        } else {
          for (const pair of pairs(token.text)) {
            if (!this.place(pair, weight, PAIR_POSITIONS) && !this.lexemes.has(UNPLACED)) this.put(UNPLACED);
          }
          // A query of one character matches the pairs that begin with it. The last character of a run begins no pair.
          this.place(lastOf(token.text), weight, WORD_POSITIONS);
        }
      }
    }
    for (const compound of compounds.close()) this.place(cut(compound.text), weight, WORD_POSITIONS);
  }

  /** The text form of the `tsvector`. */
  toString(): string {
    return Array.from(
      this.lexemes,
      ([lexeme, places]) =>
        quoteLexeme(lexeme) + (places.length > 0 ? `:${places.map(placeText).join()}` : ''),
    ).join(' ');
  }

  /**
   * The binary form of the `tsvector`, as `tsvectorrecv` reads it: the number of lexemes, then for each of them its UTF-8 and a zero
   * byte, the number of its places, and the places.
   */
  toBuffer(): Buffer {
    // `bytes` counts ENTRY_BYTES for each lexeme; the binary form has 3: the zero byte and the number of places.
    const buffer = Buffer.allocUnsafe(4 + this.bytes - (ENTRY_BYTES - 3) * this.lexemes.size);
    let at = buffer.writeInt32BE(this.lexemes.size);
    for (const [lexeme, places] of this.lexemes) {
      at = buffer.writeUInt8(0, at + buffer.write(lexeme, at));
      at = buffer.writeUInt16BE(places.length, at);
      for (const place of places) at = buffer.writeUInt16BE(place, at);
    }
    return buffer;
  }

  /** @returns whether the occurrence is in the vector with its own position */
  private place(lexeme: string, weight: Weight, most: number): boolean {
    if (this.position < MAX_POSITION) this.position += 1;
    if (this.isFull && !this.lexemes.has(lexeme)) return false;
    const places = this.lexemes.get(lexeme) ?? this.put(lexeme);
    if (places.length >= most) return false;
    const exact = this.position < MAX_POSITION;
    if (!exact && places.length > 0) return false;
    places.push(this.position | WEIGHT_BITS[weight]);
    this.bytes += 2;
    return exact;
  }

  /** Adds a lexeme that the vector does not have. */
  private put(lexeme: string): Places {
    this.bytes += Buffer.byteLength(lexeme) + ENTRY_BYTES;
    const places: Places = [];
    this.lexemes.set(lexeme, places);
    return places;
  }
}

const placeText = (place: number): string => `${place & POSITION_MASK}${WEIGHT_LETTERS[place >> 14] ?? ''}`;

function lastOf(run: string): string {
  const low = run.charCodeAt(run.length - 1);
  return run.slice(low >= 0xdc00 && low <= 0xdfff ? -2 : -1);
}

/** Version of the rules by which texts become words. With a new version all documents are indexed again. */
export const SEARCH_RULES = 4;

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
export async function indexDocument(document: SearchDocument): Promise<IndexedDocument> {
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
      await waitForSlice();
    }
  }
  return { vector, beginning };
}
