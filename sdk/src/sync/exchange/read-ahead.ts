import type { WorkspaceClient } from '../../client.js';
import { type BatchRequest, type BatchResponse, runBatch } from './batch.js';

/** Reads pages, the next ones while those before them are stored. */
export class ReadAhead {
  private next: { key: string; responses: Promise<BatchResponse[]>; abort: AbortController } | undefined;

  constructor(
    private readonly client: WorkspaceClient,
    private readonly signal: AbortSignal,
  ) {}

  /** @throws ApiError, Error if there is no response */
  read(requests: readonly BatchRequest[]): Promise<BatchResponse[]> {
    const { next } = this;
    if (next?.key === JSON.stringify(requests)) {
      this.next = undefined;
      return next.responses;
    }
    this.end();
    return runBatch(this.client, 'independent', requests, this.signal);
  }

  /** Sends the requests that `read` will probably get next. */
  begin(requests: readonly BatchRequest[]): void {
    if (requests.length === 0 || this.signal.aborted) return;
    const abort = new AbortController();
    const end = () => abort.abort(this.signal.reason);
    this.signal.addEventListener('abort', end);
    const responses = runBatch(this.client, 'independent', requests, abort.signal).finally(() =>
      this.signal.removeEventListener('abort', end),
    );
    // The failure is that of `read`.
    responses.catch(() => undefined);
    this.next = { key: JSON.stringify(requests), responses, abort };
  }

  /** Aborts the request that runs ahead, if no call of `read` takes its responses. */
  end(): void {
    this.next?.abort.abort();
    this.next = undefined;
  }
}
