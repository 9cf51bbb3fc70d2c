import type { RequestContext } from '../context/request-context.js';
import type { Tx } from '../database/tx.js';

export type FeedInclude = 'content' | 'summary';

/** One row of a feed or of an index walk. */
export interface FeedRow {
  seq: number;
  /** JSON of the item, or of its removal; null where the row exists but did not fit the page. */
  json: string | null;
}

export interface FeedRead {
  /** The caller's counter in the snapshot that the rows come from. */
  head: number;
  /** Removals up to this number have been forgotten. */
  floor: number;
  /** Those that did not fit the page come last, without JSON. */
  rows: FeedRow[];
}

export interface ChangesRead {
  after: number;
  limit: number;
  /** Leave removals out: the caller has nothing yet that could be removed. */
  liveOnly: boolean;
  include: FeedInclude;
}

export interface IndexRead {
  /** Only items last changed at or before this number of the feed; null: up to the head. */
  upTo: number | null;
  limit: number;
  include: FeedInclude;
}

/** A person of a workspace whose feed holds removals that may be forgotten. */
export interface FeedOwner {
  tenant_id: string;
  user_id: string;
}

/**
 * A synchronised collection, as its domain tells the engine about it. Each item a person can see has one row with `seq`,
 * that person's counter at the item's last change; removals are rows too.
 */
export interface FeedSource {
  /** Name in cursors and floors; never changes. */
  readonly collection: string;
  /** Names of the list in answers. */
  readonly plural: readonly string[];
  /** Where a client rebuilds its index. */
  readonly indexPath: string;
  /** Table with the feed numbers, which has an index on `(tenant_id, <owner>, seq)`. */
  readonly numbers: { readonly table: string; readonly owner: string };

  /** Rows with `after < seq <= head`, ascending, all from one snapshot with the head. */
  changes(ctx: RequestContext, read: ChangesRead): Promise<FeedRead>;

  /** Live rows with `seq <= upTo`, descending, likewise. */
  index(ctx: RequestContext, read: IndexRead): Promise<FeedRead>;

  /** Some whose feeds hold removals older than `before`. */
  ownersWithRemovals(before: Date, limit: number): Promise<FeedOwner[]>;

  /** Deletes one person's removals older than `before`; their counter is locked. @returns the highest number deleted */
  forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null>;
}

/** What a statement of a feed returns: at least one row when the caller has a counter, without `seq` when nothing else. */
export interface FeedSqlRow {
  head: number;
  floor: number;
  seq: number | null;
  json: string | null;
}

export function feedRead(rows: FeedSqlRow[]): FeedRead {
  const { head = 0, floor = 0 } = rows[0] ?? {};
  return { head, floor, rows: rows.flatMap(({ seq, json }) => (seq === null ? [] : [{ seq, json }])) };
}

/** The highest number of deleted rows, for `forgetRemovals`. */
export function highestSeq(rows: { seq: number }[]): number | null {
  return rows.length === 0 ? null : Math.max(...rows.map((row) => row.seq));
}
