import type { BackupStore } from './backup-store.js';
import type { StoredObject } from './manifest.js';

/**
 * Removes all but the newest complete snapshots, then the files that no remaining one refers to. Call it while no other backup
 * into this place runs.
 * @returns the ids of the removed snapshots
 */
export async function removeOldSnapshots(store: BackupStore, keep: number): Promise<string[]> {
  const { complete } = await store.snapshots();
  const old = complete.slice(0, -keep);
  // The remaining indexes are read first: a damaged one must not lead to the removal of its files.
  const needed = old.length === 0 ? undefined : await filesOf(store, complete.slice(-keep));
  for (const id of old) await store.removeSnapshot(id);
  if (needed) for await (const name of store.files()) if (!needed.has(name)) await store.remove(name);
  return old;
}

async function filesOf(store: BackupStore, snapshots: readonly string[]): Promise<Set<string>> {
  const names = new Set<string>();
  for (const id of snapshots)
    for (const { index } of (await store.manifest(id)).files)
      for await (const { name } of store.readLines<StoredObject>(index)) names.add(name);
  return names;
}
