import { type WorkerLimits, WorkerPool } from '../workers/worker-pool.js';
import type { DocxEngine } from './docx-engine.js';
import type { DocxSource } from '../../lib/docx/index.js';

/** The writer of `lib/docx`, in worker threads. */
export class EmbeddedDocx implements DocxEngine {
  private readonly pool: WorkerPool<DocxSource, Uint8Array>;

  constructor(limits: WorkerLimits) {
    this.pool = new WorkerPool(new URL('./docx.worker.js', import.meta.url), limits);
  }

  convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array> {
    return this.pool.run(source, signal);
  }

  close(): Promise<void> {
    return this.pool.close();
  }
}
