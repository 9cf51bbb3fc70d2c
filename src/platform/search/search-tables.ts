/**
 * The tables of a domain with search. Every `item` of `items` has a row in `index` (words, lexemes for its readers, the
 * beginning of its text) and one in `members` for every user that can read it.
 */
export interface SearchTables {
  /** Prefix of the names of statements. */
  readonly name: string;
  /** Table with the key `(tenant_id, id)` and `title`, `labels`, `revision`, `created_at`. */
  readonly items: string;
  /** `(tenant_id, <item>, revision, audience, rules, tsv, beginning)`, with a GIN index on `(tenant_id, tsv)`. */
  readonly index: string;
  /** `(tenant_id, <item>, user_id, role, listed_at, trashed, ...)`, which decides access. */
  readonly members: string;
  /** The view of items for each user, and its columns for a hit; the first is the JSON of the item. */
  readonly view: string;
  readonly shown: readonly string[];
  /** The column of `index`, `members` and `view` with the id of the item; also the member of its events. */
  readonly item: string;
  /** SQL over an `item`: keys of its readers (`text[]`), and a `uuid` that identifies these keys. */
  readonly readers: string;
  readonly audience: string;
  /** SQL over an `item`: its body (HTML), and the bytes of the body without reading it. */
  readonly body: string;
  readonly bodyBytes: string;
  /** Raised with a change of `body`: all items are indexed again, also those that the previous release indexes meanwhile. Default: 0. */
  readonly bodyRules?: number;
  /** SQL over an `item`: about the bytes of a hit in the response. */
  readonly hitBytes: string;
  /** SQL over an `event` of the outbox: whether it changes words or readers. */
  readonly event: string;
  /** SQL: the tsquery of all items that the caller can find; $1 tenant, $2 caller, $3 `findable`, $4 `match`. */
  readonly findable: string;
}

/** Object id of the built-in type `tsvector` (`pg_type`). */
const TSVECTOR = 3614;

/**
 * A parameter of type `tsvector[]`, in the binary form of `array_recv`, in which node-postgres sends a buffer. PostgreSQL reads the
 * text form of a note's vector ten times slower.
 * @param vectors each in the binary form of `SearchVector`
 */
export function tsvectorArray(vectors: readonly Buffer[]): Buffer {
  const header = int32s(1, 0, TSVECTOR, vectors.length, 1); // dimensions, no nulls, type, length, lower bound
  return Buffer.concat([header, ...vectors.flatMap((vector) => [int32s(vector.length), vector])]);
}

function int32s(...values: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  values.forEach((value, n) => bytes.writeInt32BE(value, 4 * n));
  return bytes;
}
