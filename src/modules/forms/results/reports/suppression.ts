interface Counted {
  count: number;
}

/**
 * The entries with at least `least` responses, and the empty ones. If the hidden entries have fewer than `least` responses together,
 * the smallest shown entries are hidden too: otherwise viewers could compute the hidden ones from the total.
 * @param total responses of all entries; undefined where viewers do not know it
 */
export function largeEnough<T extends Counted>(
  entries: readonly T[],
  least: number,
  total: number | undefined,
): T[] {
  const large = entries.filter(({ count }) => count === 0 || count >= least);
  if (total === undefined) return large;
  let hidden = total - large.reduce((sum, { count }) => sum + count, 0);
  const dropped = new Set<T>();
  for (const entry of large.filter(({ count }) => count > 0).toSorted((a, b) => a.count - b.count)) {
    if (hidden <= 0 || hidden >= least) break;
    hidden += entry.count;
    dropped.add(entry);
  }
  return large.filter((entry) => !dropped.has(entry));
}
