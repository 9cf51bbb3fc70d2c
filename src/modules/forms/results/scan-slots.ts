import { Injectable } from '@nestjs/common';
import { Errors } from '../../../platform/http/errors.js';

/** Maximum number of concurrent scans, of a workspace and of this process. Each scan holds a connection of the pool. */
const PER_TENANT = 2;
const TOTAL = 4;

/** Limits the scans of responses: exports, analytics and reports. */
@Injectable()
export class ScanSlots {
  private readonly perTenant = new Map<string, number>();
  private total = 0;

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
    const count = this.perTenant.get(tenantId) ?? 0;
    if (count >= PER_TENANT || this.total >= TOTAL)
      throw Errors.overloaded.with({ headers: { 'Retry-After': '5' } });
    this.perTenant.set(tenantId, count + 1);
    this.total += 1;
    return () => {
      this.total -= 1;
      const left = (this.perTenant.get(tenantId) ?? 1) - 1;
      if (left > 0) this.perTenant.set(tenantId, left);
      else this.perTenant.delete(tenantId);
    };
  }
}
