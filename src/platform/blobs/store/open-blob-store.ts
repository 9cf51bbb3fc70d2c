import type { BlobStoreSettings } from '../../../config/blob-store-url.js';
import { BlobStore } from './blob-store.js';
import { FileStore } from './file-store.js';
import type { ObjectStore } from './object-store.js';

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
