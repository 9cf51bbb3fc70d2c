import type { WorkspaceClient } from '../../client.js';
import { ApiError, unwrap } from '../../errors.js';

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

/** Clients of a service without this header in batches: version 0.1.0 rejects all requests for it. */
const withoutPrefer = new WeakSet<WorkspaceClient>();

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
  const run = async (prefers: boolean) => {
    const body = { mode, requests: requests.map((request) => inBatch(request, prefers)) };
    return unwrap(await client.POST('/batch', { body, signal }));
  };
  const prefers = !withoutPrefer.has(client);
  const { responses } = await run(prefers).catch((error: unknown) => {
    if (!prefers || !rejectsPrefer(error)) throw error;
    withoutPrefer.add(client);
    return run(false);
  });
  return responses.map(({ status, headers, body }) => {
    const revision = /:r(\d+)"$/.exec(headers['etag'] ?? '')?.[1];
    return { status, body: body ?? {}, ...(revision !== undefined && { revision: Number(revision) }) };
  });
}

const inBatch = ({ method, path, body, key }: BatchRequest, prefers: boolean) => ({
  method,
  path: `/apis/v1${path}`,
  ...(body && { body }),
  // The feed has the result.
  ...(key !== undefined && {
    headers: { 'Idempotency-Key': key, ...(prefers && { Prefer: 'return=minimal' as const }) },
  }),
});

/** Nothing was executed. */
function rejectsPrefer(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') return false;
  const { details } = error.body as { details?: { field: string }[] };
  return details?.some(({ field }) => field.endsWith('.headers.Prefer')) ?? false;
}
