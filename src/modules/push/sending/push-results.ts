import type { PushResult } from './push-queue.js';

/** Results that one statement records. */
const MAX_RESULTS = 64;
/** The first result of a statement waits so long for others. */
const COLLECTED_MS = 5;

interface Waiting {
  result: PushResult;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Collects the results of deliveries of a workspace that end at about the same time, and records them by one statement. */
export class PushResults {
  private readonly byTenant = new Map<string, Waiting[]>();

  /** @param record stores results of one workspace */
  constructor(private readonly record: (tenantId: string, results: readonly PushResult[]) => Promise<void>) {}

  /** @returns when the result is stored */
  async add(result: PushResult): Promise<void> {
    const { tenant_id: tenantId } = result.delivery;
    await new Promise<void>((resolve, reject) => {
      const waiting = this.byTenant.get(tenantId) ?? [];
      waiting.push({ result, resolve, reject });
      this.byTenant.set(tenantId, waiting);
      if (waiting.length >= MAX_RESULTS) this.flush(tenantId, waiting);
      else if (waiting.length === 1) setTimeout(() => this.flush(tenantId, waiting), COLLECTED_MS);
    });
  }

  /** @param waiting nothing happens if these are recorded already */
  private flush(tenantId: string, waiting: readonly Waiting[]): void {
    if (this.byTenant.get(tenantId) !== waiting) return;
    this.byTenant.delete(tenantId);
    this.record(
      tenantId,
      waiting.map(({ result }) => result),
    ).then(
      () => waiting.forEach(({ resolve }) => resolve()),
      (error: unknown) => waiting.forEach(({ reject }) => reject(error)),
    );
  }
}
