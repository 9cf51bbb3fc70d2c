/** `"note:<id>:r<revision>"` (spec 2.1). It names the revision, not the representation: no 304 may be derived from it. */
export function revisionTag(kind: string, id: string, revision: number): string {
  return `"${kind}:${id}:r${revision}"`;
}

const TAG = /^(?:W\/)?"([a-z_]+):([0-9a-fA-F-]{36}):r([1-9]\d{0,14})"$/;

/** Reads exactly one tag, strong or weakened by a compressing proxy; undefined for `*`, lists, revisions below 1 and anything else. */
export function parseRevisionTag(header: string): { kind: string; id: string; revision: number } | undefined {
  const match = TAG.exec(header.trim());
  if (!match) return undefined;
  return { kind: match[1]!, id: match[2]!.toLowerCase(), revision: Number(match[3]) };
}
