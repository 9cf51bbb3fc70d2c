import type { BlobStoreSettings } from '../../../config/store-urls.js';
import { FileStore } from './file-store.js';
import type { ByteRange, ByteSource, ObjectStore, OpenBlob } from './object-store.js';

/** The address of a blob. Clients choose no part of it. */
export interface BlobKey {
  readonly tenantId: string;
  /** A random UUID. */
  readonly id: string;
}

/**
 * Stores immutable bytes under keys. `Blobs` records the references to them and is the interface for domains. The methods are
 * those of `ObjectStore`, with keys.
 */
export class BlobStore {
  constructor(private readonly objects: ObjectStore) {}

  async write(key: BlobKey, source: ByteSource): Promise<void> {
    return this.objects.write(objectName(key), source);
  }

  async open(key: BlobKey, range?: ByteRange): Promise<OpenBlob> {
    return this.objects.open(objectName(key), range);
  }

  async size(key: BlobKey): Promise<number | undefined> {
    return this.objects.size(objectName(key));
  }

  async remove(key: BlobKey): Promise<void> {
    return this.objects.remove(objectName(key));
  }

  async check(full?: boolean): Promise<void> {
    return this.objects.check(full);
  }

  close(): void {
    this.objects.close();
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * `<tenant>/<two digits of the id>/<id>`, so that no directory gets too many entries.
 * @throws RangeError unless both are lower-case UUIDs, so that the path stays inside the store
 */
export function objectName({ tenantId, id }: BlobKey): string {
  if (!UUID.test(tenantId) || !UUID.test(id)) throw new RangeError('a blob key is two UUIDs');
  return `${tenantId}/${id.slice(0, 2)}/${id}`;
}

/** Creates the configured store without connecting to it. Loads the S3 client only when it is needed. */
export async function openObjectStore(settings: BlobStoreSettings): Promise<ObjectStore> {
  if (settings.kind === 'file') return new FileStore(settings.directory);
  const { S3Store } = await import('./s3-store.js');
  return new S3Store(settings);
}

/** The store of the files of all domains. */
export async function openBlobStore(settings: BlobStoreSettings): Promise<BlobStore> {
  return new BlobStore(await openObjectStore(settings));
}
