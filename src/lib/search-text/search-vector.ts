import { quoted, readerLexeme, UNPLACED } from './lexeme.js';
import { pairs, SpanReader } from './tokens.js';

/** PostgreSQL keeps positions up to this one and rejects vectors of 1 MB. */
const MAX_POSITION = 16_383;
const MAX_BYTES = 900_000;
/** Further occurrences of a word do not change its rank. */
const WORD_POSITIONS = 20;
/** Pairs keep all that PostgreSQL can hold: whether two of them touch is what decides a match. */
const PAIR_POSITIONS = 255;
/** So that nothing matches across the end of one text and the beginning of the next. */
const GAP = 8;

/** A: titles. B: labels. D: bodies. */
export type Weight = 'A' | 'B' | 'D';

/** Places of a lexeme: their number, and `:1,2,3` in the text form of a `tsvector`. */
interface Places {
  count: number;
  text: string;
}

/** Collects the lexemes of a document and writes them as the text form of a `tsvector`. */
export class SearchVector {
  private readonly lexemes = new Map<string, Places>();
  private position = 0;
  private bytes = 0;
  private unplaced = false;

  /** @param readers ids of those who may find it; given first, so that no text is too long for them */
  constructor(readers: readonly string[]) {
    for (const reader of readers) this.put(readerLexeme(reader));
    this.put(UNPLACED);
  }

  /** True when no further word has a chance of being kept. */
  get full(): boolean {
    return this.bytes >= MAX_BYTES;
  }

  /** Adds a text. Texts added one after the other are kept apart unless they `continue` the one before. */
  add(text: string, weight: Weight, continues = false): void {
    if (!continues) this.position += GAP;
    const reader = new SpanReader(text);
    while (reader.next()) {
      for (const token of reader.tokens) {
        if (token.kind === 'word') {
          this.place(token.text, weight, WORD_POSITIONS);
        } else {
          for (const pair of pairs(token.text)) {
            if (!this.place(pair, weight, PAIR_POSITIONS)) this.unplaced = true;
          }
          // A character alone is searched as the beginning of a pair; the last one begins none.
          this.place(lastOf(token.text), weight, WORD_POSITIONS);
        }
      }
    }
  }

  toString(): string {
    const parts: string[] = [];
    for (const [lexeme, places] of this.lexemes)
      if (lexeme !== UNPLACED || this.unplaced) parts.push(quoted(lexeme) + places.text);
    return parts.join(' ');
  }

  /** @returns whether the occurrence is in the vector with its own position */
  private place(lexeme: string, weight: Weight, most: number): boolean {
    if (this.position < MAX_POSITION) this.position += 1;
    const places = this.lexemes.get(lexeme) ?? this.put(lexeme);
    if (!places || places.count >= most) return false;
    const exact = this.position < MAX_POSITION;
    if (!exact && places.count > 0) return false;
    places.text += `${places.count > 0 ? ',' : ':'}${this.position}${weight === 'D' ? '' : weight}`;
    places.count += 1;
    this.bytes += 2;
    return exact;
  }

  private put(lexeme: string): Places | undefined {
    // Four bytes of entry, and two each for the number of positions and for alignment.
    const bytes = Buffer.byteLength(lexeme) + 8;
    if (this.bytes + bytes > MAX_BYTES) return undefined;
    this.bytes += bytes;
    const places = { count: 0, text: '' };
    this.lexemes.set(lexeme, places);
    return places;
  }
}

function lastOf(run: string): string {
  const low = run.charCodeAt(run.length - 1);
  return run.slice(low >= 0xdc00 && low <= 0xdfff ? -2 : -1);
}
