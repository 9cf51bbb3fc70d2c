import type { RequestContext } from '../context/request-context.js';
import type { Tx } from '../database/tx.js';
import type { JsonText } from '../http/json-reply.js';

export type FeedInclude = 'content' | 'summary';

/** One row of a feed or of an index walk. */
export interface FeedRow {
  seq: number;
  /** JSON of the item or of its removal; null if the row did not fit the page. */
  json: JsonText | null;
}

export interface FeedRead {
  /** The caller's counter in the snapshot that the rows come from. */
  head: number;
  /** Removals up to this number have been deleted. */
  floor: number;
  /** Rows beyond the page come last, without JSON. */
  rows: FeedRow[];
}

export interface ChangesRead {
  after: number;
  limit: number;
  /** Omits removals: the client has no items yet. */
  liveOnly: boolean;
  include: FeedInclude;
}

export interface IndexRead {
  /** Only items last changed at or before this number of the feed; null: up to the head. */
  upTo: number | null;
  limit: number;
  include: FeedInclude;
}

/** A user whose feed contains removals that may be deleted. */
export interface FeedOwner {
  tenant_id: string;
  user_id: string;
}

/**
 * A synchronised collection, as its domain presents it to the engine. Each item that a user can see has one row with `seq`,
 * the counter of that user at the last change of the item. Removals are rows too.
 */
export interface FeedSource {
  /** Name in cursors and floors; never changes. */
  readonly collection: string;
  /** Names of the list in responses. */
  readonly plural: readonly string[];
  /** Path that rebuilds the index. */
  readonly indexPath: string;
  /**
   * Table with the feed numbers, which has an index on `(tenant_id, <owner>, seq)`. Null means that its counters are those of other
   * objects than users, such as address books; `heads` then reads them.
   */
  readonly numbers: { readonly table: string; readonly owner: string } | null;

  /**
   * For a collection whose counters are those of other objects: SQL of a JSON object with the heads of the objects that a user
   * sees, by id. $1 is the workspace, $2 the user.
   */
  readonly heads?: string;

  /** Rows with `after < seq <= head`, ascending, from the same snapshot as the head. */
  changes(ctx: RequestContext, read: ChangesRead): Promise<FeedRead>;

  /** Rows of existing items with `seq <= upTo`, descending, from the same snapshot as the head. */
  index(ctx: RequestContext, read: IndexRead): Promise<FeedRead>;

  /** Some users whose feeds contain removals older than `before`. */
  ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]>;

  /** Deletes the removals of a user older than `before`; their counter is locked. @returns the highest deleted number */
  forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null>;
}

/** A row of a feed statement. For an empty page the statement returns one row without `seq`; for a caller without a counter, none. */
export interface FeedSqlRow {
  head: number;
  floor: number;
  seq: number | null;
  json: JsonText | null;
}

export function feedRead(rows: FeedSqlRow[]): FeedRead {
  const { head = 0, floor = 0 } = rows[0] ?? {};
  return { head, floor, rows: rows.flatMap(({ seq, json }) => (seq === null ? [] : [{ seq, json }])) };
}

/** The highest number of deleted rows, for `forgetRemovals`. */
export function highestSeq(rows: { seq: number }[]): number | null {
  return rows.length === 0 ? null : Math.max(...rows.map((row) => row.seq));
}
