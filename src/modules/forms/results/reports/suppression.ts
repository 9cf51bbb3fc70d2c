interface Counted {
  count: number;
}

/**
 * The entries with at least `least` responses, and the empty ones. While the responses of the others are fewer than `least` together,
 * the smallest entries are left out too: the difference from the total would show the others.
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
