import { Injectable } from '@nestjs/common';
import { Slots } from '../../../platform/workers/slots.js';
import { Errors } from '../../../platform/http/errors.js';

/** Maximum number of concurrent scans, of a workspace and of this process. Each scan holds a connection of the pool. */
const MAX = { owner: 2, total: 4 };

/** Limits the scans of responses: exports, analytics and reports. */
@Injectable()
export class ScanSlots {
  private readonly slots = new Slots();

  /** Runs a scan in a slot. @throws ApiError 503 `overloaded` */
  async run<T>(tenantId: string, scan: () => Promise<T>): Promise<T> {
    const release = this.take(tenantId);
    try {
      return await scan();
    } finally {
      release();
    }
  }

  /** @returns a function that releases the slot @throws ApiError 503 `overloaded` */
  take(tenantId: string): () => void {
    const release = this.slots.take(tenantId, MAX);
    if (typeof release === 'string') throw Errors.overloaded.with({ headers: { 'Retry-After': '5' } });
    return release;
  }
}
