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
  return responses.map((response) => ({ status: response.status, body: response.body ?? {} }));
}

const inBatch = ({ method, path, body, key }: BatchRequest) => ({
  method,
  path: `/apis/v1${path}`,
  ...(body && { body }),
  ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
});
