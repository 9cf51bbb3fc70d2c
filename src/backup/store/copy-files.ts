import type { Config } from '../../config/config.js';
import { openObjectStore } from '../../platform/blobs/store/blob-store.js';
import {
  BlobMissingError,
  type ObjectStore,
  type OpenBlob,
} from '../../platform/blobs/store/object-store.js';
import type { FilesOfRows, NeededFile } from '../database/catalog.js';
import { rowsInPortions, type Snapshot } from '../database/snapshots.js';
import { BackupError, type Fault, type Report } from '../reporting.js';
import { BackupStore, FILES } from './backup-store.js';
import type { FileSet, Manifest, StoredObject } from './manifest.js';
import { mapInOrder } from './streams.js';

/** Files that are copied or verified at the same time. */
export const CONCURRENT_FILES = 4;

/** The files of a set in the backup, and the numbers of the copy. */
export interface CopiedFiles {
  set: FileSet;
  /** Files that were copied now; the others were in the backup already. */
  copied: number;
  copiedBytes: number;
  faults: Fault[];
}

interface CopiedFile {
  object?: StoredObject;
  copied: boolean;
  fault?: Fault['reason'];
}

/** Copies the files of a snapshot that the backup does not have, and writes the index of all of them. */
export class FileCopy {
  /**
   * @param source the store of the installation
   * @param report receives each file
   */
  constructor(
    private readonly source: ObjectStore,
    private readonly store: BackupStore,
    private readonly report: Report,
  ) {}

  /**
   * @param needed ordered by name
   * @param earlier the index of an earlier snapshot, whose checksums were verified when it was written
   */
  async run(
    snapshot: string,
    kind: string,
    needed: AsyncIterable<NeededFile>,
    earlier: AsyncIterable<StoredObject>,
  ): Promise<CopiedFiles> {
    const result = { count: 0, bytes: 0, copied: 0, copiedBytes: 0, faults: [] as Fault[] };
    const known = new KnownFiles(earlier);
    const pairs = joined(needed, known);
    const { report } = this;
    const copies = mapInOrder(pairs, CONCURRENT_FILES, async ([file, before]) => ({
      file,
      ...(await this.copy(file, before)),
    }));
    async function* index(): AsyncGenerator<StoredObject> {
      for await (const { file, object, copied, fault } of copies) {
        if (fault) result.faults.push({ name: file.name, reason: fault });
        if (!object) continue;
        result.count += 1;
        result.bytes += object.bytes;
        if (copied) {
          result.copied += 1;
          result.copiedBytes += object.bytes;
        }
        await report({ phase: 'file', name: file.name, amount: object.bytes });
        yield object;
      }
    }
    const written = await this.store.writeLines(snapshot, `files-${kind}`, index());
    const { count, bytes, ...rest } = result;
    return { set: { kind, count, bytes, index: written }, ...rest };
  }

  private async copy(file: NeededFile, before: StoredObject | undefined): Promise<CopiedFile> {
    const present = await this.present(file, before);
    if (present) return { object: present, copied: false };
    let blob: OpenBlob;
    try {
      blob = await this.source.open(file.name);
    } catch (error) {
      if (error instanceof BlobMissingError) return { copied: false, fault: 'missing' };
      throw error;
    }
    const object = await this.store.write(`${FILES}/${file.name}`, blob.pieces());
    const isDamaged = file.sha256 !== undefined && file.sha256 !== object.sha256;
    return { object, copied: true, ...(isDamaged && { fault: 'damaged' as const }) };
  }

  /** The file in the backup; undefined when it is missing or has other content. */
  private async present(
    file: NeededFile,
    before: StoredObject | undefined,
  ): Promise<StoredObject | undefined> {
    const name = `${FILES}/${file.name}`;
    const bytes = await this.store.size(name);
    if (bytes === undefined) return undefined;
    const expected = file.bytes ?? (await this.source.size(file.name));
    if (bytes !== expected) return undefined;
    const object = before?.bytes === bytes ? before : await this.store.measure(name);
    return file.sha256 === undefined || object?.sha256 === file.sha256 ? object : undefined;
  }
}

/** Finds files in an ordered index. Look-ups must be in the order of the names. */
class KnownFiles {
  private readonly iterator: AsyncIterator<StoredObject>;
  private current: StoredObject | undefined;
  private done = false;

  constructor(objects: AsyncIterable<StoredObject>) {
    this.iterator = objects[Symbol.asyncIterator]();
  }

  async find(name: string): Promise<StoredObject | undefined> {
    while (!this.done && (this.current === undefined || this.current.name < name)) {
      const { done, value } = await this.iterator.next();
      this.done = done === true;
      this.current = this.done ? undefined : (value as StoredObject);
    }
    return this.current?.name === name ? this.current : undefined;
  }

  async close(): Promise<void> {
    await this.iterator.return?.();
  }
}

async function* joined(
  needed: AsyncIterable<NeededFile>,
  known: KnownFiles,
): AsyncGenerator<[NeededFile, StoredObject | undefined]> {
  try {
    for await (const file of needed) yield [file, await known.find(`${FILES}/${file.name}`)];
  } finally {
    await known.close();
  }
}

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

/** Undefined means that there is no earlier snapshot, or that its manifest is damaged. The files are then compared by their content. */
async function newestManifest(store: BackupStore): Promise<Manifest | undefined> {
  try {
    return await store.manifest();
  } catch (error) {
    if (error instanceof BackupError) return undefined;
    throw error;
  }
}

async function* nothing(): AsyncGenerator<never> {
  // It has no values.
}
