const SPECIAL = /['\\]/;

/** A lexeme quoted for the text form of a tsvector or tsquery. */
export function quoted(lexeme: string): string {
  if (!SPECIAL.test(lexeme)) return `'${lexeme}'`;
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/**
 * The lexeme of a reader. A document has one for each user with access, so that a single look-up in the index checks both the
 * terms and the access. No token contains U+0001, so neither texts nor queries can contain this lexeme.
 */
export const readerLexeme = (userId: string): string => `\u0001u${userId}`;

/** Marks a document in which some pairs have no position, so that a query cannot test whether they are adjacent. */
export const UNPLACED = '\u0002';
