import { Pool } from 'undici';
import { type FuzzRequest, Requests } from '../contract/fuzz/requests.ts';
import type { FuzzWorkspace } from '../contract/fuzz/workspace.ts';
import { describedOperations, openApi } from '../support/contract/operations.ts';
import { Rng } from '../sync/rng.ts';

/** A request as a worker thread takes it. */
export interface SentRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface Measured extends SentRequest {
  operation: string;
  domain: string;
  ms: number;
}

/** Items of the lists in a body. */
const ITEMS = 100;
/** Requests of each domain that are repeated. */
const KEPT = 4;
const LIMIT_MS = 30_000;
/** Operations that wait for a change or end the session, and the health of the process. */
const SKIPPED = /^(?:health|signOut|.*[Ss]ession|deactivate|delete|purge|leave|emptyTrash)/;

/**
 * Sends requests with the widest parameters to every operation, one after the other.
 * @param variants of each operation
 * @param isShort without the batches
 * @returns the slowest successful ones of each domain, and of each of these domains a batch of 100 of its slowest read
 */
export async function findExpensiveRequests(
  base: string,
  workspace: FuzzWorkspace,
  variants: number,
  isShort: boolean,
): Promise<Map<string, Measured[]>> {
  const requests = new Requests(openApi(), workspace, ITEMS);
  const pool = new Pool(base, { connections: 1, headersTimeout: LIMIT_MS, bodyTimeout: LIMIT_MS });
  const rng = new Rng('fairness');
  const found = new Map<string, Measured[]>();
  for (const operation of describedOperations()) {
    if (SKIPPED.test(operation.spec.operationId)) continue;
    for (let n = 0; n < variants; n += 1) {
      const request = sent(requests.make(rng, operation));
      if (!request) continue;
      const ms = await timeOf(pool, request);
      const domain: string = operation.spec.tags[0];
      if (ms === undefined) continue;
      const measured = found.get(domain) ?? [];
      measured.push({ ...request, operation: operation.spec.operationId, domain, ms });
      found.set(domain, measured);
    }
  }
  await pool.destroy();
  for (const [domain, measured] of found) found.set(domain, slowest(measured, isShort));
  return found;
}

/** The slowest requests, each of another operation, and a batch of the slowest read. */
function slowest(measured: readonly Measured[], isShort: boolean): Measured[] {
  const byOperation = new Map<string, Measured>();
  for (const each of measured.toSorted((a, b) => b.ms - a.ms))
    if (!byOperation.has(each.operation)) byOperation.set(each.operation, each);
  const kept = [...byOperation.values()].slice(0, KEPT);
  const read = [...byOperation.values()].find(
    ({ method, path }) => method === 'GET' && !/export|\.(?:csv|ics|docx)/.test(path),
  );
  if (isShort || !read || read.path.startsWith('/apis/v1/scim')) return kept;
  const part = { method: 'GET', path: read.path };
  const body = JSON.stringify({ mode: 'independent', requests: Array.from({ length: 100 }, () => part) });
  const headers = { authorization: read.headers['authorization']!, 'content-type': 'application/json' };
  return [
    ...kept,
    {
      ...read,
      operation: `batch of ${read.operation}`,
      method: 'POST',
      path: '/apis/v1/batch',
      headers,
      body,
    },
  ];
}

function sent({ method, path, headers, body }: FuzzRequest): SentRequest | undefined {
  // Bytes and forms are small: they have no widest parameters.
  if (body !== undefined && typeof body !== 'string') return undefined;
  return { method, path, headers, body };
}

/** @returns milliseconds; undefined for a request that does not succeed */
async function timeOf(pool: Pool, { method, path, headers, body }: SentRequest): Promise<number | undefined> {
  const started = performance.now();
  try {
    const response = await pool.request({ method, path, headers, body });
    await response.body.dump({ limit: Infinity });
    return response.statusCode < 300 ? performance.now() - started : undefined;
  } catch {
    // It took longer than the limit of this client, or the connection ended.
    return undefined;
  }
}
