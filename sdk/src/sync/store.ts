import type { Row } from './rows/row.js';

/** What a transaction does with a store, and how durable that is. A store treats each mode but `read` as a write. */
export type TransactionMode = 'read' | 'write' | 'relaxed';

/** Keeps the rows of a user on a device. */
export interface Store {
  /** Name of the lock and the channel of all users of the store. Without it, the store has one user: this one. */
  readonly shared?: string;
  /**
   * Runs work on one state of the store; its writes are stored together, and durably, before the promise resolves, or not at all. Write
   * transactions run one after the other, in all tabs.
   * @param mode `relaxed`: a write that a loss of power may undo, with all relaxed ones after it, until the next `write` is durable. What the
   *   service delivers again is stored so; a store may treat it as a `write`
   * @param work waits for methods of its transaction only: IndexedDB ends a transaction that waits for anything else
   * @throws StoreFullError if there is no space left
   */
  transaction<T>(mode: TransactionMode, work: (tx: StoreTransaction) => Promise<T>): Promise<T>;
  /** Releases the storage, after the running transaction. */
  close(): Promise<void>;
}

/** Rows are copies: a change of a row that was read changes nothing in the store. */
export interface StoreTransaction {
  /** Reads a row. */
  get(feed: string, id: string): Promise<Row | undefined>;
  /** Adds a row, or replaces the one of its feed and id. */
  put(row: Row): Promise<void>;
  /** Deletes a row; an unknown one is no error. */
  delete(feed: string, id: string): Promise<void>;
  /** The first rows of a feed with a greater id, by id. */
  rows(feed: string, after: string, limit: number): Promise<Row[]>;
  /** The first rows with a greater place, by place. */
  pending(after: number, limit: number): Promise<Row[]>;
  /** Reads a value of the store itself, such as the name of the device. */
  readMeta(key: string): Promise<unknown>;
  /** Stores a value of the store itself. @param value undefined deletes it */
  writeMeta(key: string, value: unknown): Promise<void>;
}

/** The store has no space left: nothing of the transaction is stored. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';

  constructor(cause: unknown) {
    super('The storage of this device is full.', { cause });
  }
}
