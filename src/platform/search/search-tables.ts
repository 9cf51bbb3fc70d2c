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
