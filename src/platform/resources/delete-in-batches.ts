import type { Db } from '../database/db.js';
import type { Tx } from '../database/tx.js';

/** The outcome of one batch of a deletion. */
export interface DeletedBatch<T> {
  /** The item before the batch. */
  shown: T;
  /** Whether the batch has deleted the item. False means that contents remain. */
  isLast: boolean;
}

/**
 * Deletes an item with any number of contents. Each batch commits by itself, so that no statement reaches its time limit. A process
 * that ends between two batches leaves the item with the remaining contents; a repeated request continues.
 * @param batch checks the request, takes a limited number of contents out of the item, and deletes the item with the last ones
 * @returns the item before the first batch, for the response
 */
export async function deleteInBatches<T>(db: Db, batch: (tx: Tx) => Promise<DeletedBatch<T>>): Promise<T> {
  const first = await db.tx(batch);
  for (let { isLast } = first; !isLast;) ({ isLast } = await db.tx(batch));
  return first.shown;
}
