import type { BlobStoreSettings } from '../../config/blob-store-url.js';
import type { BlobStore } from './blob-store.js';
import { FileStore } from './file-store.js';

/** The store that the settings name. Nothing is contacted yet; the S3 client is loaded only where it is wanted. */
export async function openBlobStore(settings: BlobStoreSettings): Promise<BlobStore> {
  if (settings.kind === 'file') return new FileStore(settings.directory);
  const { S3Store } = await import('./s3-store.js');
  return new S3Store(settings);
}
