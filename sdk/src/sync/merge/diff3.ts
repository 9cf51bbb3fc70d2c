import { diffArrays } from 'diff';

/** Parts of a merge in their order: equal on both sides, or changed by one side, or changed by both in different ways. */
export type Merged<T> = T[] | { base: T[]; local: T[]; server: T[] };

/** More insertions and deletions than this are no edit, but another text. Bounds the time of a comparison to some tens of milliseconds. */
const MAX_EDITS = 500;

/** A difference: the base from `from` to `to` became `by`. */
interface Hunk<T> {
  from: number;
  to: number;
  by: T[];
}

/**
 * Three-way merge of lists (S. Khanna, K. Kunal, B. C. Pierce, A Formal Investigation of Diff3, 2007).
 * @returns undefined if a side differs from the base too much
 */
export function diff3<T extends string>(base: T[], local: T[], server: T[]): Merged<T>[] | undefined {
  const [mine, theirs] = [hunksOf(base, local), hunksOf(base, server)];
  if (!mine || !theirs) return undefined;
  const merged: Merged<T>[] = [];
  let at = 0;
  while (mine.length > 0 || theirs.length > 0) {
    const region = takeRegion(mine, theirs);
    if (region.start > at) merged.push(base.slice(at, region.start));
    merged.push(resolved(base, region));
    at = region.end;
  }
  if (at < base.length) merged.push(base.slice(at));
  return merged;
}

/** A part of the base that at least one side has changed. */
interface Region<T> {
  start: number;
  end: number;
  mine: Hunk<T>[];
  theirs: Hunk<T>[];
}

/** Takes the first hunk of both sides with all that overlap it. */
function takeRegion<T>(mine: Hunk<T>[], theirs: Hunk<T>[]): Region<T> {
  const [first] = [mine[0], theirs[0]]
    .filter((hunk) => hunk !== undefined)
    .sort((one, other) => one.from - other.from || one.to - other.to);
  const region: Region<T> = { start: first!.from, end: first!.to, mine: [], theirs: [] };
  const sides = [
    [mine, region.mine],
    [theirs, region.theirs],
  ] as const;
  for (let grows = true; grows;) {
    grows = false;
    for (const [hunks, taken] of sides)
      while (hunks[0] && (hunks[0] === first || overlaps(hunks[0], region))) {
        const hunk = hunks.shift()!;
        taken.push(hunk);
        region.end = Math.max(region.end, hunk.to);
        grows = true;
      }
  }
  return region;
}

/** What only touches the region has a certain place beside it, except two insertions at one place. */
const overlaps = <T>({ from, to }: Hunk<T>, { start, end }: Region<T>): boolean =>
  from < end || (from === end && start === end && from === to);

function resolved<T extends string>(base: T[], { start, end, mine, theirs }: Region<T>): Merged<T> {
  if (theirs.length === 0) return apply(mine, base, start, end);
  if (mine.length === 0) return apply(theirs, base, start, end);
  const [local, server] = [apply(mine, base, start, end), apply(theirs, base, start, end)];
  const isSame = local.length === server.length && local.every((one, n) => one === server[n]);
  return isSame ? local : { base: base.slice(start, end), local, server };
}

/** The base from `start` to `end` with these differences. */
function apply<T>(hunks: Hunk<T>[], base: T[], start: number, end: number): T[] {
  const result: T[] = [];
  let at = start;
  for (const { from, to, by } of hunks) {
    result.push(...base.slice(at, from), ...by);
    at = to;
  }
  return [...result, ...base.slice(at, end)];
}

function hunksOf<T extends string>(base: T[], other: T[]): Hunk<T>[] | undefined {
  const parts = diffArrays(base, other, { maxEditLength: MAX_EDITS });
  if (!parts) return undefined;
  const hunks: Hunk<T>[] = [];
  let at = 0;
  let open: Hunk<T> | undefined;
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      at += value.length;
      open = undefined;
      continue;
    }
    if (!open) hunks.push((open = { from: at, to: at, by: [] }));
    if (added) open.by.push(...value);
    else open.to = at += value.length;
  }
  return hunks;
}
