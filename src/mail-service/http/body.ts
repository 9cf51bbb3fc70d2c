import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { ByteReservation } from '../byte-budget.js';
import { bufferOf, type Bytes, type FileBytes, gatherInto } from '../storage/bytes.js';
import type { Scratch } from '../storage/spool.js';
import { LongStrings } from './long-strings.js';
import { mailErrors } from '../mail-error.js';

/** Bodies with a longer or missing Content-Length are spooled to files. */
const SHORT = 256 * 1024;

/** A request body: fields of a JSON object, or a raw message. */
export interface Body {
  fields?: Record<string, unknown>;
  raw?: Bytes;
  /** Long attachment contents by the marker that replaces them in `fields`: JSON text between the quotes. */
  contents?: ReadonlyMap<string, FileBytes>;
}

/**
 * Reads a request body.
 * @param limit bytes
 * @param share released by the caller at the end of the request
 * @param scratch files for long bodies, cleared by the caller at the end of the request
 * @throws MailError
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  share: ByteReservation,
  scratch: Scratch,
): Promise<Body> {
  if (request.method === 'GET' || request.method === 'HEAD') return {};
  if (request.headers['content-encoding'] !== undefined) throw mailErrors.encodingUnsupported();
  const announced = Number(request.headers['content-length'] ?? Infinity);
  if (announced > limit && Number.isFinite(announced)) throw mailErrors.bodyTooLarge();
  const pieces = bounded(request, limit, share);
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const json = type === 'application/json' || type.endsWith('+json');
  if (json && announced > SHORT) return longFields(pieces, scratch);
  const bytes = announced > SHORT ? await gatherInto(pieces, scratch.file()) : await buffer(pieces);
  if (bytes instanceof Uint8Array && bytes.length === 0) return {};
  if (type === 'message/rfc822') return { raw: bytes };
  if (json) return { fields: fieldsOf((await bufferOf(bytes)).toString('utf8')) };
  throw mailErrors.typeUnsupported(type);
}

async function* bounded(
  request: IncomingMessage,
  limit: number,
  share: ByteReservation,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw mailErrors.bodyTooLarge();
      if (!share.take(chunk.length)) throw mailErrors.busy();
      yield chunk;
    }
  } finally {
    // After an error, the rest of the body is discarded, because the next request of the connection follows it.
    request.resume();
  }
}

/** Parses JSON whose long strings are spooled to a file. Attachment contents stay in the file. */
async function longFields(pieces: AsyncIterable<Uint8Array>, scratch: Scratch): Promise<Body> {
  const strings = new LongStrings(scratch.file());
  let json: string;
  try {
    for await (const piece of pieces) await strings.write(piece);
  } finally {
    json = await strings.end();
  }
  if (json === '') return {};
  const fields = fieldsOf(json);
  const { byMarker } = strings;
  const contents = new Map(
    contentsOf(fields).flatMap((content) => {
      const text = byMarker.get(content);
      return text ? [[content, text] as const] : [];
    }),
  );
  if (contents.size === byMarker.size) return { fields, contents };
  // Long strings of other fields are put back into the JSON before validation.
  const parts: string[] = [];
  for (const part of json.split(strings.pattern)) {
    const text = contents.has(part) ? undefined : byMarker.get(part);
    parts.push(text ? (await bufferOf(text)).toString('utf8') : part);
  }
  return { fields: fieldsOf(parts.join('')), contents };
}

function contentsOf({ attachments }: Record<string, unknown>): string[] {
  if (!Array.isArray(attachments)) return [];
  return attachments.flatMap((attachment: unknown) => {
    const { content } = (attachment ?? {}) as { content?: unknown };
    return typeof content === 'string' ? [content] : [];
  });
}

function fieldsOf(text: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw mailErrors.invalidJson((error as Error).message);
  }
  if (Array.isArray(json)) throw mailErrors.arrayBody();
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
}
