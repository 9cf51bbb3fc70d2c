import { Global, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Dependencies } from '../observability/dependencies.js';
import { BlobCollector } from './blob-collector.js';
import { BlobMetrics } from './blob-metrics.js';
import { BlobStore } from './store/blob-store.js';
import { BLOB_STORE, Blobs } from './blobs.js';
import { BlobsRepository } from './blobs.repository.js';
import { FileLimits } from './file-limits.js';
import { FileUsageRepository } from './file-usage.repository.js';
import { openBlobStore } from './store/open-blob-store.js';
import { UploadGate, UploadLimits } from './uploads/upload-limits.js';
import { Uploads } from './uploads/uploads.js';

/** The files of all domains: `Uploads` receives them, `Blobs` stores them. */
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
    FileUsageRepository,
    FileLimits,
    Blobs,
    BlobCollector,
    UploadLimits,
    UploadGate,
    Uploads,
  ],
  exports: [Blobs, BlobCollector, BlobStore, FileLimits, UploadLimits, Uploads],
})
export class BlobsModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(BlobStore) private readonly store: BlobStore,
    private readonly dependencies: Dependencies,
  ) {}

  onModuleInit(): void {
    this.dependencies.register(BLOB_STORE, (state) => this.store.check(state === 'full'));
  }

  onApplicationShutdown(): void {
    this.store.close();
  }
}
