import type { Config } from '../../config/config.js';
import { openObjectStore } from '../../platform/blobs/store/open-blob-store.js';
import { BackupError } from '../backup-error.js';
import type { FilesOfRows, NeededFile } from '../database/schemas.js';
import { rowsInPortions, type Snapshot } from '../database/snapshot.js';
import type { Report } from '../progress.js';
import { BackupStore } from './backup-store.js';
import { type CopiedFiles, FileCopy } from './copy-files.js';
import type { Manifest, StoredObject } from './manifest.js';

/** The files that rows of one kind refer to, ordered by name. */
export interface NeededFiles {
  kind: string;
  files: AsyncIterable<NeededFile>;
}

/**
 * Lists the files that rows need in a scratch file, so that the snapshot can end before they are copied.
 * @param schema the search path; null: that of the connection
 * @param scratch a directory, for the files of all calls
 */
export async function listFiles(
  snapshot: Snapshot,
  schema: string | null,
  { kind, sql, toFile }: FilesOfRows,
  scratch: string,
): Promise<NeededFiles> {
  const local = await BackupStore.open(scratch);
  const list = await snapshot.read(async (client) => {
    async function* needed(): AsyncGenerator<NeededFile> {
      for await (const row of rowsInPortions(client, schema, sql)) yield toFile(row);
    }
    return local.writeLines('needed', kind, needed());
  });
  return { kind, files: local.readLines<NeededFile>(list) };
}

/** Copies files of the installation that the backup does not have. */
export async function copyNeededFiles(
  config: Config,
  store: BackupStore,
  id: string,
  needed: readonly NeededFiles[],
  report: Report,
): Promise<CopiedFiles[]> {
  const earlier = await newestManifest(store);
  const source = await openObjectStore(config.blobStore);
  try {
    const copy = new FileCopy(source, store, report);
    const copies: CopiedFiles[] = [];
    for (const { kind, files } of needed) {
      const index = earlier?.files.find((set) => set.kind === kind)?.index;
      const known = index ? store.readLines<StoredObject>(index) : nothing();
      copies.push(await copy.run(id, kind, files, known));
    }
    return copies;
  } finally {
    source.close();
  }
}

/** Undefined: there is no earlier snapshot, or its manifest is damaged. The files are then compared by their content. */
async function newestManifest(store: BackupStore): Promise<Manifest | undefined> {
  try {
    return await store.manifest();
  } catch (error) {
    if (error instanceof BackupError) return undefined;
    throw error;
  }
}

async function* nothing(): AsyncGenerator<never> {
  // No values.
}
