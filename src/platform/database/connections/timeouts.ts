/** Limits of every connection, milliseconds. Far above the duration of any statement of the application. */
export const TIMEOUTS = {
  /** The limit of a statement of a job, of the delivery of events and of the start. */
  statement: 15_000,
  /** The limit of a statement of a request. */
  request: 5_000,
  /** The limit of a statement of a request that is declared as long work: an export, an import, a report. */
  longRequest: 60_000,
  lock: 3_000,
  idleInTransaction: 15_000,
  connect: 5_000,
  /**
   * Enforced by the client, for a server that disappears without closing its connections. For statements that may take longer: the
   * time after their limit.
   */
  response: 20_000,
} as const;

/** The time limit of the statements of a request, milliseconds. */
export const limitOf = ({ isLong }: { isLong: boolean }): number =>
  isLong ? TIMEOUTS.longRequest : TIMEOUTS.request;
