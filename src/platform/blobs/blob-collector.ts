import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { type BlobKey, BlobStore } from './store/blob-store.js';
import { BlobMetrics } from './blob-metrics.js';
import { BlobsRepository } from './blobs.repository.js';

const BATCH = 50;
/** Duration of a claim, seconds. A failed removal is retried after it. */
const LEASE_SECONDS = 600;

/**
 * Removes batches of claimed blobs until a batch is smaller than `size`.
 * @param remove false: the blob was not removed
 * @returns the number of removed blobs
 */
export async function removeClaimed<T>(
  claim: () => Promise<readonly T[]>,
  size: number,
  remove: (blob: T) => Promise<boolean>,
): Promise<number> {
  for (let total = 0; ;) {
    const claimed = await claim();
    let removed = 0;
    for (const blob of claimed) removed += (await remove(blob)) ? 1 : 0;
    total += removed;
    // The store is down when no removal succeeds. The next run continues.
    if (claimed.length < size || removed === 0) return total;
  }
}

/**
 * Removes unreferenced blobs: released ones, and those that were put an hour ago and not kept, because the process died or the
 * request failed. Removes the bytes first, then the row. May run in several processes at the same time.
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
      queue: 'files',
      run: () => this.collect(),
    });
  }

  /** @returns the number of removed blobs */
  async collect(): Promise<number> {
    const claim = () => this.repository.claim(BATCH, LEASE_SECONDS);
    return removeClaimed(claim, BATCH, (key) => this.remove(key));
  }

  private async remove(key: BlobKey): Promise<boolean> {
    try {
      await this.store.remove(key);
      await this.repository.forget(key);
      return true;
    } catch (error) {
      this.metrics.countFailure('remove');
      this.logger.warn({ err: error, ...key }, 'removal of a blob failed; it will be retried');
      return false;
    }
  }
}
