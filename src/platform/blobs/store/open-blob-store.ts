import type { BlobStoreSettings } from '../../../config/blob-store-url.js';
import type { BlobStore } from './blob-store.js';
import { FileStore } from './file-store.js';

/** Creates the configured store without connecting to it. Loads the S3 client only when it is needed. */
export async function openBlobStore(settings: BlobStoreSettings): Promise<BlobStore> {
  if (settings.kind === 'file') return new FileStore(settings.directory);
  const { S3Store } = await import('./s3-store.js');
  return new S3Store(settings);
}
