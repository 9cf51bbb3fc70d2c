import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { BlobCollector } from './blob-collector.js';
import { BlobMetrics } from './blob-metrics.js';
import { BlobStore } from './blob-store.js';
import { Blobs } from './blobs.js';
import { BlobsRepository } from './blobs.repository.js';
import { openBlobStore } from './open-blob-store.js';

/** The files of all domains: `Blobs`. */
@Global()
@Module({
  providers: [
    {
      provide: BlobStore,
      inject: [Config],
      useFactory: ({ blobStore }: Config) => openBlobStore(blobStore),
    },
    BlobMetrics,
    BlobsRepository,
    Blobs,
    BlobCollector,
  ],
  exports: [Blobs, BlobCollector, BlobStore],
})
export class BlobsModule implements OnApplicationShutdown {
  constructor(@Inject(BlobStore) private readonly store: BlobStore) {}

  onApplicationShutdown(): void {
    this.store.close();
  }
}
