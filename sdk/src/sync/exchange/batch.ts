import type { WorkspaceClient } from '../../client.js';
import { unwrap } from '../../errors.js';

/** A request of a batch. Paths are those of the client, without `/apis/v1`. */
export interface BatchRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: Record<string, unknown>;
  key?: string;
}

export interface BatchResponse {
  status: number;
  /** The revision of the object, in its ETag. */
  revision?: number;
  /** Empty for a write whose response has an ETag. */
  body: Record<string, unknown>;
}

/**
 * Runs requests, in their order or at the same time.
 * @returns their responses, in the order of the requests
 * @throws ApiError if the service rejects the batch itself; Error if there is no response
 */
export async function runBatch(
  client: WorkspaceClient,
  mode: 'ordered' | 'independent',
  requests: readonly BatchRequest[],
  signal: AbortSignal,
): Promise<BatchResponse[]> {
  const body = { mode, requests: requests.map(inBatch) };
  const { responses } = unwrap(await client.POST('/batch', { body, signal }));
  return responses.map(({ status, headers, body }) => {
    const revision = /:r(\d+)"$/.exec(headers['etag'] ?? '')?.[1];
    return { status, body: body ?? {}, ...(revision !== undefined && { revision: Number(revision) }) };
  });
}

const inBatch = ({ method, path, body, key }: BatchRequest) => ({
  method,
  path: `/apis/v1${path}`,
  ...(body && { body }),
  // The feed has the result.
  ...(key !== undefined && { headers: { 'Idempotency-Key': key, Prefer: 'return=minimal' } as const }),
});
