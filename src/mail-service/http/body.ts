import type { IncomingMessage } from 'node:http';
import type { Share } from '../byte-budget.js';
import { refuse } from './mail-error.js';

/** What a request carried: fields of a JSON object, or a message as it is. */
export interface Body {
  fields?: Record<string, unknown>;
  raw?: Buffer;
}

/**
 * Reads the body of a request that may write.
 * @param limit bytes
 * @param share of the memory of all requests; to be released when the request is done
 * @throws MailError
 */
export async function readBody(request: IncomingMessage, limit: number, share: Share): Promise<Body> {
  if (request.method === 'GET' || request.method === 'HEAD') return {};
  if (request.headers['content-encoding'] !== undefined) throw refuse.encodingUnsupported();
  const bytes = await collect(request, limit, share);
  if (bytes.length === 0) return {};
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === 'message/rfc822') return { raw: bytes };
  if (type === 'application/json' || type.endsWith('+json')) return { fields: fieldsOf(bytes) };
  throw refuse.typeUnsupported(type);
}

async function collect(request: IncomingMessage, limit: number, share: Share): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw refuse.bodyTooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw refuse.bodyTooLarge();
    if (!share.take(chunk.length)) throw refuse.busy();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function fieldsOf(bytes: Buffer): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw refuse.invalidJson((error as Error).message);
  }
  if (Array.isArray(json)) throw refuse.arrayBody();
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
}
