/** What the running test file has executed so far that takes another way where workspaces are in several databases. */
const uses = new Set<string>();

/** @param use see `recordUses` */
export function noteUse(use: string): void {
  uses.add(use);
}

/** Starts the record of a test file. */
export function clearUses(): void {
  uses.clear();
}

/** What the running test file has executed so far. */
export const currentUses = (): string[] => [...uses].toSorted();
