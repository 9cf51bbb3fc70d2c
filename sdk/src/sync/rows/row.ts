/** An object of the service as JSON. */
export type Item = Record<string, unknown>;

/** What the application has saved and the service does not have yet. The parts happen in this order: create, restore, fields, remove. */
export interface Change {
  create?: true;
  /** Takes it out of the trash. */
  restore?: true;
  /** New values of fields. */
  fields?: Item;
  /** The values that these fields had for the user. A missing one had none. */
  base?: Item;
  remove?: true;
  /** The revision that the user has removed. */
  revision?: number;
}

/** A request that may have reached the service. It is repeated unchanged, with its key, until its response is stored. */
export interface Sent {
  key: string;
  /** One part of a change. */
  change: Change;
  /** The revision that the request depends on. */
  revision?: number;
  /** The service has executed it; the feed has not shown the result yet. `revision`: the result, where the response names it. */
  done?: { revision?: number };
}

/** Why the service rejects a change until the application decides: `retry`, `discard`, or a further change. */
export interface Problem {
  status: number;
  /** A code of the operation, or `removed`: the object is deleted, or no longer shared with the user. */
  code: string;
  message: string;
  details?: unknown;
}

/**
 * Everything that a device knows of one object. It is one record of the store, so that a crash leaves it before or after a step.
 * `place` exists exactly while `sent` or `open` does.
 */
export interface Row {
  /** The collection, with `/` and the id of the containing object where each of these has a feed. */
  feed: string;
  id: string;
  /** The newest copy that the feed has delivered. Responses to writes never set it. */
  server?: Item;
  /**
   * The feed has reported the removal; `server` is the last received copy, or the sent payload if there is none. Only for objects with
   * unsent changes.
   */
  gone?: true;
  /** Number of the walk that has listed it. */
  walk?: number;
  sent?: Sent;
  /** What was saved after `sent`. */
  open?: Change;
  /** Position in the order of changes. */
  place?: number;
  problem?: Problem;
}
