/**
 * The tables of a domain whose items are searched. Every item `n` of `items` has a row in `index`: its words, lexemes for
 * those who may find it, and how its text begins; every person who sees it one in `members`.
 */
export interface SearchTables {
  /** In the names of statements. */
  readonly name: string;
  /** With the key `(tenant_id, id)` and `title`, `labels`, `revision`, `created_at`. */
  readonly items: string;
  /** `(tenant_id, <item>, revision, audience, rules, tsv, beginning)`, with a GIN index on `(tenant_id, tsv)`. */
  readonly index: string;
  /** `(tenant_id, <item>, user_id, role, listed_at, trashed, ...)`, the authority for who sees what. */
  readonly members: string;
  /** The view of items as people see them, and its columns with what a hit shows; the first is its JSON. */
  readonly view: string;
  readonly shown: readonly string[];
  /** The column of `index`, `members` and `view` that names the item; also the member of its events that does. */
  readonly item: string;
  /** SQL over an item `n`: keys of those who may find it (`text[]`), and a `uuid` that names these keys. */
  readonly readers: string;
  readonly audience: string;
  /** SQL: the body of an item `n`, HTML, of the row that `bodyJoin` may add, and its bytes without reading it. */
  readonly body: string;
  readonly bodyJoin: string;
  readonly bodyBytes: string;
  /** SQL over an event `e` of the outbox: whether it tells of a change of words or readers. */
  readonly event: string;
  /** SQL: the tsquery, of the parameters $1 tenant, $2 caller, $3 and $4 the terms, for what the caller may find. */
  readonly findable: string;
}
