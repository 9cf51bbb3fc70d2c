import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { ByteReservation } from '../limits.js';
import { mailErrors } from '../mail-error.js';
import { bufferOf, type Bytes, type FileBytes, gatherInto, SpoolFile } from '../storage/bytes.js';
import type { Scratch } from '../storage/spool.js';

/** Longer strings, in bytes, are moved to the file. */
const LONG = 16_384;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Moves the long strings of a streamed JSON text to a file. A random marker replaces each of them in the remaining JSON. */
export class LongStrings {
  /** The replaced strings by marker: the text between the quotes with its escapes. */
  readonly byMarker = new Map<string, FileBytes>();
  private readonly spool: SpoolFile;
  private readonly secret = randomBytes(16).toString('hex');
  /** Matches a marker; captured, so that `split` keeps it. */
  readonly pattern = new RegExp(`(${this.secret}-\\d+\\.)`);
  private readonly kept: Uint8Array[] = [];
  /** The beginning of a string that continues in the next chunk, unless it is in the file. */
  private begun: Uint8Array[] = [];
  private begunBytes = 0;
  private inString = false;
  private afterBackslash = false;
  /** Start of the current long string in the file. */
  private start: number | undefined;

  constructor(file: string) {
    this.spool = new SpoolFile(file);
  }

  async write(chunk: Uint8Array): Promise<void> {
    /** `done`: end of the processed part. `began`: start of the current string in this chunk. */
    let done = 0;
    let began = 0;
    const { length } = chunk;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at];
      if (!this.inString) {
        if (byte !== QUOTE) continue;
        this.inString = true;
        began = at + 1;
      } else if (this.afterBackslash) this.afterBackslash = false;
      else if (byte === BACKSLASH) this.afterBackslash = true;
      else if (byte === QUOTE) {
        this.inString = false;
        if (this.isLong(at - began)) {
          this.keep(chunk.subarray(done, began));
          await this.moveToFile(chunk.subarray(began, at));
          this.mark();
          done = at;
        } else this.keepBegun();
      }
    }
    if (!this.inString) this.keep(chunk.subarray(done));
    else {
      this.keep(chunk.subarray(done, began));
      const rest = chunk.subarray(began);
      if (this.isLong(rest.length)) await this.moveToFile(rest);
      else {
        this.begun.push(rest);
        this.begunBytes += rest.length;
      }
    }
  }

  /** @returns the remaining JSON */
  async end(): Promise<string> {
    this.keepBegun();
    await this.spool.close();
    return Buffer.concat(this.kept).toString('utf8');
  }

  private isLong(more: number): boolean {
    return this.start !== undefined || this.begunBytes + more > LONG;
  }

  private async moveToFile(piece: Uint8Array): Promise<void> {
    this.start ??= this.spool.size;
    for (const each of this.begun.splice(0)) await this.spool.append(each);
    this.begunBytes = 0;
    await this.spool.append(piece);
  }

  private keep(piece: Uint8Array): void {
    // A copy: a small slice would keep the whole chunk in memory.
    if (piece.length > 0) this.kept.push(Buffer.from(piece));
  }

  private keepBegun(): void {
    this.kept.push(...this.begun.splice(0));
    this.begunBytes = 0;
  }

  private mark(): void {
    // The full stop keeps a marker from being the prefix of another.
    const marker = `${this.secret}-${this.byMarker.size}.`;
    this.byMarker.set(marker, this.spool.rangeFrom(this.start as number));
    this.start = undefined;
    this.kept.push(Buffer.from(marker));
  }
}

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
