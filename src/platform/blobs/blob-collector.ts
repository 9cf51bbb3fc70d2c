import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { type BlobKey, BlobStore } from './blob-store.js';
import { BlobMetrics } from './blob-metrics.js';
import { BlobsRepository } from './blobs.repository.js';

const BATCH = 50;
/** How long a claimed blob is nobody else's; what could not be removed is tried again after it. */
const LEASE_SECONDS = 600;

/**
 * Removes what nothing refers to: blobs that were released, and those put an hour ago and never kept, because the process
 * died or the request failed. First the bytes, then the row. May run in several processes at once.
 */
@Injectable()
export class BlobCollector implements OnModuleInit {
  private readonly logger = new Logger(BlobCollector.name);

  constructor(
    private readonly store: BlobStore,
    private readonly repository: BlobsRepository,
    private readonly metrics: BlobMetrics,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'collect-blobs',
      everySeconds: 60,
      run: async () => void (await this.collect()),
    });
  }

  /** @returns how many blobs were removed */
  async collect(): Promise<number> {
    for (let total = 0; ;) {
      const claimed = await this.repository.claim(BATCH, LEASE_SECONDS);
      let removed = 0;
      for (const key of claimed) removed += (await this.remove(key)) ? 1 : 0;
      total += removed;
      // A store that removes nothing is down: the rest waits for the next turn.
      if (claimed.length < BATCH || removed === 0) return total;
    }
  }

  private async remove(key: BlobKey): Promise<boolean> {
    try {
      await this.store.remove(key);
      await this.repository.forget(key);
      return true;
    } catch (error) {
      this.metrics.failed('remove');
      this.logger.warn({ err: error, ...key }, 'a blob could not be removed, will be tried again');
      return false;
    }
  }
}
