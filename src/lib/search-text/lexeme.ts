const MEANINGFUL = /['\\]/;

/** A lexeme quoted for the text form of a tsvector or tsquery. */
export function quoted(lexeme: string): string {
  if (!MEANINGFUL.test(lexeme)) return `'${lexeme}'`;
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/**
 * The lexeme that lets a person find a document: one for each who may see it, so that a single look-up in the index
 * decides text and access. U+0001 is in no token, hence no text and no query can bring it forth.
 */
export const readerLexeme = (userId: string): string => `\u0001u${userId}`;

/** Marks a document of which some pairs were left without their place: adjacency cannot be asked of it. */
export const UNPLACED = '\u0002';
