/**
 * Runs the work of all items, of at most `concurrency` at the same time.
 * @throws the first error of the work, once all running work has ended. Each error ends one of the `concurrency` workers, so the work of
 *   the last items may not have run
 */
export async function inParallel<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) await work(next.value);
  };
  const results = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}
