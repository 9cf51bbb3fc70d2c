/** Contents older than this are read again: the owner may have lost access. */
export const FRESH_MS = 1_000;
export const FIRST_BATCH = 20;
const MAX_BATCH = 100;
/** Characters of the objects of a batch: they are in memory together. */
export const MAX_LENGTH = 512 * 1024;

/** A batch: deliveries that were read, and those that were sent; the time of these, and the length of all objects. */
interface SentBatch {
  read: number;
  sent: number;
  ms: number;
  length: number;
}

/**
 * The size of the batch after one of `size`: more where the receiver responds quickly, so that each delivery needs fewer statements; as
 * many as are sent while the contents are fresh otherwise, so that few are read again; and fewer where contents are long.
 */
export function nextBatch(size: number, { read, sent, ms, length }: SentBatch): number {
  const inTime = Math.floor((sent * FRESH_MS) / 2 / Math.max(1, ms));
  const inMemory = Math.floor((read * MAX_LENGTH) / Math.max(1, length));
  return Math.max(1, Math.min(MAX_BATCH, size * 2, inTime, inMemory));
}
