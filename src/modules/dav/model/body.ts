import type { Request } from 'express';
import { LRUCache } from 'lru-cache';
import {
  byteOrderMarkOf,
  charsetOf,
  decodeStated,
  isSevenBits,
  isWestern,
} from '../../../lib/content-lines/index.js';
import { readXml, type XmlElement, XmlError } from '../../../lib/xml/index.js';
import { ClientDisconnectedError } from '../../../platform/http/abort-signal.js';
import { ApiError, Errors } from '../../../platform/http/errors.js';
import { DECLARATIONS, element, XML_HEAD, type XmlName } from './xml-names.js';

/** An error of WebDAV with the condition that the RFCs name for it (RFC 4918, section 16). */
export class DavError extends Error {
  /**
   * @param condition null: no RFC names one
   * @param detail XML inside of the condition
   */
  constructor(
    readonly status: number,
    readonly condition: XmlName | null,
    message: string,
    readonly detail = '',
  ) {
    super(message);
  }

  /** The body of the response. */
  get xml(): string {
    const content = this.condition === null ? '' : element(this.condition, this.detail);
    return `${XML_HEAD}<D:error ${DECLARATIONS}>${content}</D:error>\n`;
  }
}

export const notFound = (): DavError => new DavError(404, null, 'No such resource.');
export const forbidden = (condition: XmlName | null = null): DavError =>
  new DavError(403, condition, 'The request is not allowed.');

/** Whether a resource does not exist, or the caller does not see it. */
export function isMissing(error: unknown): boolean {
  const status = error instanceof DavError ? error.status : error instanceof ApiError ? error.kind.status : 0;
  return status === 404;
}

/** Bytes of an XML body: a multiget of 5,000 members has half of it. */
export const MAX_XML = 1024 * 1024;
/** Bytes of an event or a contact. */
export const MAX_RESOURCE = 4 * 1024 * 1024;
const LIMITS = { depth: 32, nodes: 20_000 };

/**
 * The bytes of a body.
 * @throws ApiError 413, 415
 */
export async function readBody(request: Request, limit: number): Promise<Buffer> {
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity')
    throw Errors.unsupportedMediaType.with({ message: 'The body must not be compressed.' });
  if (Number(request.headers['content-length'] ?? 0) > limit) throw Errors.bodyTooLarge.with();
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise<Buffer>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      // The rest is not read: the response closes the connection.
      request.pause();
      request.removeAllListeners('data');
      reject(Errors.bodyTooLarge.with());
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('close', () => {
      if (!request.complete) reject(new ClientDisconnectedError());
    });
  });
}

/** Bytes of a body in a charset of seven bits, which is decoded in one call. */
const MAX_SEVEN_BITS = 256 * 1024;

/**
 * The bytes of an event, task or contact, in UTF-8 if the content type states another charset.
 * @throws ApiError 413, 415
 */
export async function readResource(request: Request): Promise<Buffer> {
  const bytes = await readBody(request, MAX_RESOURCE);
  const type = request.headers['content-type'];
  const charset = charsetOf(type);
  if (byteOrderMarkOf(bytes) || (charset === undefined && !isWestern(type))) return bytes;
  if (isSevenBits(charset) && bytes.length > MAX_SEVEN_BITS) throw Errors.bodyTooLarge.with();
  const written = bytes.toString('latin1');
  // A fold may be between the bytes of a character, and has no shift of its own.
  const lines = isSevenBits(charset) ? written.replaceAll(FOLD, '') : written;
  const text = decodeStated(lines, charset);
  const recoded = Buffer.from(text);
  return recoded.equals(bytes) ? bytes : Buffer.from(withoutCharsets(text));
}

const FOLD = /\r?\n[\t ]/g;
const ENCODED = /;(?:ENCODING=)?(?:QUOTED-PRINTABLE|BASE64|B)(?=[;:]|$)/i;

/** Without the charsets of properties that are decoded already. An encoded value keeps its charset: its bytes are still to be decoded. */
const withoutCharsets = (text: string): string =>
  text.replaceAll(/^[^:\r\n]*;CHARSET=[^:\r\n]*/gim, (head) =>
    ENCODED.test(head) ? head : head.replaceAll(/;CHARSET=[^;]*/gi, ''),
  );

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Text of UTF-8. @throws DavError 400 */
export function utf8Of(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new DavError(400, null, 'The body is not UTF-8.');
  }
}

/** Methods of requests that programs repeat. */
const REPEATED: ReadonlySet<string> = new Set(['PROPFIND', 'REPORT']);

/** Programs repeat their requests. The roots of short bodies are kept by their text, up to this number of characters in all. */
const known = new LRUCache<string, XmlElement>({
  maxSize: 128 * 1024,
  maxEntrySize: 2_000,
  sizeCalculation: (_root, text) => text.length,
});

/**
 * The root element of an XML body, which several requests may share; null without a body.
 * @throws DavError 400, 422 for too many elements; ApiError 413, 415
 */
export async function readXmlBody(request: Request): Promise<XmlElement | null> {
  const bytes = await readBody(request, MAX_XML);
  if (bytes.length === 0) return null;
  const text = utf8Of(bytes);
  const isRepeated = REPEATED.has(request.method);
  const same = isRepeated ? known.get(text) : undefined;
  if (same) return same;
  try {
    const root = await readXml(text, LIMITS);
    if (isRepeated) known.set(text, root);
    return root;
  } catch (error) {
    throw error instanceof XmlError ? xmlError(error) : error;
  }
}

/** The error of the response to invalid XML. */
export const xmlError = ({ code, message }: XmlError): DavError =>
  new DavError(code === 'too_deep' || code === 'too_many_nodes' ? 422 : 400, null, message);
