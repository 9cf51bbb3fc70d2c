import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parseBlobStoreUrl } from '../../config/store-urls.js';
import { openObjectStore } from '../../platform/blobs/store/blob-store.js';
import { Measured } from '../../platform/blobs/store/measured.js';
import {
  BlobMissingError,
  type ByteSource,
  type ObjectStore,
  type OpenBlob,
} from '../../platform/blobs/store/object-store.js';
import { BackupError, type Fault } from '../reporting.js';
import { FORMAT, formatManifest, type Manifest, parseManifest, type StoredObject } from './manifest.js';
import { compress, decompress, fromLines, toLines } from './streams.js';

/** Identifies the folder as backups of one installation. */
const ROOT = 'backup.json';
const SNAPSHOTS = 'snapshots';
const MANIFEST = 'manifest.json';
const MANIFEST_NAME = /^snapshots\/([^/]+)\/manifest\.json$/;

/** Folder of the files that snapshots share. Below it, names are those of the blob store. */
export const FILES = 'files';

/** The snapshots of a destination, by id in the order of their times. */
export interface Snapshots {
  complete: string[];
  /** The snapshots of aborted backups. */
  incomplete: string[];
}

/**
 * The place of the backups of one installation: a directory or a prefix of a bucket. Each snapshot has a folder with its tables;
 * the manifest is written last, so a folder without it is an aborted backup. Snapshots share the folder of files, which are
 * immutable.
 */
export class BackupStore {
  private constructor(private readonly objects: ObjectStore) {}

  /** @param address a directory, `file:///directory`, or `s3://bucket/prefix` with the parameters of BLOB_STORE_URL */
  static async open(address: string): Promise<BackupStore> {
    if (!/^(s3|file):\/\//.test(address))
      return new BackupStore(await openObjectStore({ kind: 'file', directory: path.resolve(address) }));
    try {
      return new BackupStore(await openObjectStore(parseBlobStoreUrl(address)));
    } catch (error) {
      throw new BackupError(`The address of the backup ${(error as Error).message}.`, { cause: error });
    }
  }

  close(): void {
    this.objects.close();
  }

  /**
   * Reserves the place for the backups of an installation, or for the exports of one of its workspaces.
   * @throws BackupError when it has backups or exports of another installation or workspace
   */
  async claim(installation: string, workspace?: string): Promise<void> {
    const found = await this.read(ROOT);
    if (found === undefined) {
      const content = `${JSON.stringify({ format: FORMAT, installation, workspace })}\n`;
      await this.write(ROOT, bytesOf(content));
      return;
    }
    const owner = JSON.parse(found) as { installation: string; workspace?: string };
    if (owner.installation !== installation)
      throw new BackupError('The destination has backups of another installation. Use an empty one.');
    if (owner.workspace !== workspace)
      throw new BackupError(
        'The destination has backups of the installation or of another workspace. Use an empty one.',
      );
  }

  async snapshots(): Promise<Snapshots> {
    const all = new Set<string>();
    const complete = new Set<string>();
    for await (const name of this.objects.list(SNAPSHOTS)) {
      all.add(name.split('/')[1] as string);
      const [, id] = MANIFEST_NAME.exec(name) ?? [];
      if (id !== undefined) complete.add(id);
    }
    const incomplete = [...all].filter((id) => !complete.has(id));
    return { complete: [...complete].toSorted(), incomplete: incomplete.toSorted() };
  }

  /**
   * @param id default: the newest complete snapshot
   * @throws BackupError when there is none, or it is damaged
   */
  async manifest(id?: string): Promise<Manifest> {
    const { complete, incomplete } = await this.snapshots();
    const chosen = id ?? complete.at(-1);
    if (chosen === undefined)
      throw new BackupError(
        incomplete.length > 0
          ? `The only backup here is incomplete (${incomplete.join(', ')}): it was aborted.`
          : 'There is no backup here.',
      );
    if (incomplete.includes(chosen))
      throw new BackupError(`The backup ${chosen} is incomplete: it was aborted.`);
    const found = await this.read(`${SNAPSHOTS}/${chosen}/${MANIFEST}`);
    if (found === undefined) throw new BackupError(`There is no backup ${chosen} here.`);
    return parseManifest(found);
  }

  async writeManifest(manifest: Manifest): Promise<void> {
    await this.write(`${SNAPSHOTS}/${manifest.snapshot}/${MANIFEST}`, bytesOf(formatManifest(manifest)));
  }

  /** Removes the folder of a snapshot, its manifest first. */
  async removeSnapshot(id: string): Promise<void> {
    await this.objects.remove(`${SNAPSHOTS}/${id}/${MANIFEST}`);
    for await (const name of this.objects.list(`${SNAPSHOTS}/${id}`)) await this.objects.remove(name);
  }

  /** Names of all files that snapshots share. */
  files(): AsyncIterable<string> {
    return this.objects.list(FILES);
  }

  async remove(name: string): Promise<void> {
    await this.objects.remove(name);
  }

  async size(name: string): Promise<number | undefined> {
    return this.objects.size(name);
  }

  async write(name: string, source: ByteSource): Promise<StoredObject> {
    const measured = new Measured(source, Infinity);
    await this.objects.write(name, measured);
    return stored(name, measured);
  }

  async writeCompressed(snapshot: string, file: string, source: ByteSource): Promise<StoredObject> {
    return this.write(`${SNAPSHOTS}/${snapshot}/${file}.zst`, compress(source));
  }

  async writeLines(snapshot: string, file: string, values: AsyncIterable<unknown>): Promise<StoredObject> {
    return this.writeCompressed(snapshot, `${file}.ndjson`, toLines(values));
  }

  /** Reads bytes that must have the recorded size and checksum. @throws BackupError at the end when they do not */
  async *readChecked({ name, bytes, sha256 }: StoredObject): AsyncGenerator<Uint8Array> {
    const measured = new Measured((await this.objects.open(name)).stream, Infinity);
    yield* measured;
    if (measured.size !== bytes || measured.digest().toString('hex') !== sha256)
      throw new BackupError(`${name} is damaged.`);
  }

  readCompressed(object: StoredObject): AsyncGenerator<Uint8Array> {
    return decompress(this.readChecked(object));
  }

  readLines<T>(object: StoredObject): AsyncGenerator<T> {
    return fromLines<T>(this.readCompressed(object));
  }

  /** Reads the whole object. @returns undefined when it does not exist */
  async measure(name: string): Promise<StoredObject | undefined> {
    try {
      return stored(name, await measuredAll(await this.objects.open(name)));
    } catch (error) {
      if (error instanceof BlobMissingError) return undefined;
      throw error;
    }
  }

  /** @returns undefined when the object has its recorded size and checksum */
  async fault({ name, bytes, sha256 }: StoredObject): Promise<Fault | undefined> {
    const found = await this.measure(name);
    if (found === undefined) return { name, reason: 'missing' };
    return found.bytes === bytes && found.sha256 === sha256 ? undefined : { name, reason: 'damaged' };
  }

  private async read(name: string): Promise<string | undefined> {
    try {
      return await text((await this.objects.open(name)).stream);
    } catch (error) {
      if (error instanceof BlobMissingError) return undefined;
      throw error;
    }
  }
}

/** Reads an object to its end. */
export async function measuredAll(blob: OpenBlob): Promise<Measured> {
  const measured = new Measured(blob.pieces(), Infinity);
  for await (const _ of measured);
  return measured;
}

const stored = (name: string, measured: Measured): StoredObject => ({
  name,
  bytes: measured.size,
  sha256: measured.digest().toString('hex'),
});

async function* bytesOf(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

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
