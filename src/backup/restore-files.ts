import type { Config } from '../config/config.js';
import { openObjectStore } from '../platform/blobs/store/blob-store.js';
import { BlobMissingError, type ObjectStore } from '../platform/blobs/store/object-store.js';
import { BackupError, type Fault, type Report } from './reporting.js';
import { type BackupStore, FILES, measuredAll } from './store/backup-store.js';
import { CONCURRENT_FILES } from './store/copy-files.js';
import type { FileSet, StoredObject } from './store/manifest.js';
import { mapInOrder } from './store/streams.js';

/**
 * Copies the files of a backup into the store of the installation and verifies each. Files that the store has with the same
 * content are not copied again. A damaged file is not stored.
 */
export async function restoreFiles(
  config: Config,
  store: BackupStore,
  sets: readonly FileSet[],
  report: Report,
): Promise<{ files: number; faults: Fault[] }> {
  const faults: Fault[] = [];
  let files = 0;
  const target = await openObjectStore(config.blobStore);
  try {
    for (const { index } of sets) {
      const results = mapInOrder(store.readLines<StoredObject>(index), CONCURRENT_FILES, async (object) => ({
        object,
        reason: await restoreFile(store, target, object),
      }));
      for await (const { object, reason } of results) {
        if (reason) faults.push({ name: object.name, reason });
        else files += 1;
        await report({ phase: 'file', name: object.name, amount: object.bytes });
      }
    }
    return { files, faults };
  } finally {
    target.close();
  }
}

async function restoreFile(
  store: BackupStore,
  target: ObjectStore,
  object: StoredObject,
): Promise<Fault['reason'] | undefined> {
  const name = object.name.slice(FILES.length + 1);
  if (await hasContent(target, name, object)) return undefined;
  try {
    await target.write(name, store.readChecked(object));
    return undefined;
  } catch (error) {
    if (error instanceof BlobMissingError) return 'missing';
    if (error instanceof BackupError) return 'damaged';
    throw error;
  }
}

async function hasContent(
  target: ObjectStore,
  name: string,
  { bytes, sha256 }: StoredObject,
): Promise<boolean> {
  if ((await target.size(name)) !== bytes) return false;
  const measured = await measuredAll(await target.open(name));
  return measured.digest().toString('hex') === sha256;
}
