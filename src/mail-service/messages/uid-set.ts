/** A set of message ids: a list or a range. */
export interface UidSet {
  uids: number[];
  /** Null without a range. */
  low: number | null;
  high: number | null;
}

const clamp = (text: string): number => Math.min(Number(text), Number.MAX_SAFE_INTEGER);

/** No message has an id that is not a whole number. */
export const listOf = (uids: number[]): UidSet => ({
  uids: uids.filter(Number.isSafeInteger),
  low: null,
  high: null,
});

/** @param text `1,2,3` or `3:15` or `3:*` */
export function parseUids(text: string): UidSet {
  if (!text.includes(':')) return listOf([...new Set(text.split(',').map(clamp))]);
  const [from = '', to = ''] = text.split(':');
  const ends = [clamp(from), to === '*' ? Number.MAX_SAFE_INTEGER : clamp(to)];
  return { uids: [], low: Math.min(...ends), high: Math.max(...ends) };
}
