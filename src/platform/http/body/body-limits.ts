import { isUtf8 } from 'node:buffer';
import { SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import { countForwardedBytes } from '../../memory/garbage.js';
import { Slots } from '../../workers/slots.js';
import { Errors, fieldError } from '../errors.js';

/**
 * The limits of JSON that clients send: this file is their home. `docs/operations.md` and the extension `x-body-limits` of each operation
 * in openapi.json show them.
 */
export interface BodyLimits {
  /** Maximum size of the body, bytes. */
  readonly bytes: number;
  /** Maximum number of its values: objects, arrays, their members and items. */
  readonly values: number;
}

/** They apply to operations without `@BodyLimit()`. A contact with every field filled has 17,653 values. */
export const DEFAULT_LIMITS: BodyLimits = { bytes: 1024 * 1024, values: 20_000 };
/** Values of one event of a socket. The longest list that an event has contains 500 items. */
export const MAX_EVENT_VALUES = 2_000;
/** Parameters of one query. The longest list of a query has 100 items. Express reads 1,000 parameters and ignores the others. */
export const MAX_QUERY_PARAMETERS = 500;

const BODY_LIMIT = 'workspace:body-limit';

/** The maximum size of the JSON body, bytes, and the maximum number of its values. */
export const BodyLimit = (bytes: number, values = DEFAULT_LIMITS.values) =>
  SetMetadata(BODY_LIMIT, { bytes, values } satisfies BodyLimits);

/** The limits of an operation. */
export const bodyLimitsOf = (handler: object): BodyLimits =>
  (Reflect.getMetadata(BODY_LIMIT, handler) as BodyLimits | undefined) ?? DEFAULT_LIMITS;

const [QUOTE, COMMA, ARRAY, BACKSLASH, OBJECT] = [0x22, 0x2c, 0x5b, 0x5c, 0x7b];

/**
 * Rejects JSON with too many values, before it is parsed: each value costs every later step memory and time, however few bytes
 * it has. Counts one value for each comma and each opening bracket outside of strings, which is at least the number of values
 * that the text has, less one for each empty array or object. A body that is too short for so many values is not read. One of
 * 2 MB takes 0.1 ms when it is one long text, and 25 ms when every seventh of its characters is an escaped quote.
 * @param json UTF-8, valid or not
 * @throws ApiError 413 `body_too_large`
 */
export function assertFewValues(json: Buffer, max: number): void {
  // A value and its separator have two bytes.
  if (json.length < max * 2) return;
  let values = 1;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = endOfString(json, at);
      if (at < 0) return;
    } else if (byte === COMMA || byte === ARRAY || byte === OBJECT) {
      values += 1;
      if (values > max) throw tooManyValues(max);
    }
  }
}

/** @returns the position of the quote that ends the string; -1 when there is none */
function endOfString(json: Buffer, start: number): number {
  let end = start;
  let isEscaped: boolean;
  do {
    end = json.indexOf(QUOTE, end + 1);
    if (end < 0) return -1;
    let before = end - 1;
    while (json[before] === BACKSLASH) before -= 1;
    isEscaped = (end - before) % 2 === 0;
  } while (isEscaped);
  return end;
}

/**
 * As `assertFewValues`, for the parsed value of an event, whose text Socket.IO has read. No event has more than 64 KiB.
 * @throws ApiError 413 `body_too_large`
 */
export function assertFewEventValues(event: unknown): void {
  const rest = [event];
  for (let values = 1; rest.length > 0; values += 1) {
    const value = rest.pop();
    if (typeof value === 'object' && value !== null) rest.push(...Object.values(value));
    if (values + rest.length > MAX_EVENT_VALUES) throw tooManyValues(MAX_EVENT_VALUES);
  }
}

const tooManyValues = (max: number) =>
  Errors.bodyTooLarge.with({
    message: `The body has more than ${max.toLocaleString('en')} values (members and items), the maximum.`,
    details: [{ field: '', code: 'too_many_values', message: `The maximum is ${max} values.` }],
  });

/**
 * Rejects a query with too many parameters, also repeated ones.
 * @param url path and query
 * @throws ApiError 422 `validation_failed`
 */
export function assertFewParameters(url: string): void {
  let parameters = 0;
  for (let at = url.indexOf('?'); at >= 0; at = url.indexOf('&', at + 1)) {
    parameters += 1;
    if (parameters > MAX_QUERY_PARAMETERS) throw tooManyParameters();
  }
}

const tooManyParameters = () =>
  fieldError(
    '',
    'too_many_parameters',
    `The query has more than ${MAX_QUERY_PARAMETERS} parameters, the maximum.`,
  );

/** Maximum number of large bodies in memory, of one user and in this process. */
const MAX = { owner: 2, total: 8 };

/** Limits the memory for large JSON bodies. Each exists as bytes, as text and as parsed values. */
export class LargeBodies {
  private readonly slots = new Slots();

  /**
   * @returns a function that releases the reservation
   * @throws ApiError 503 `overloaded`, before the body is read
   */
  enter(user: string): () => void {
    const release = this.slots.take(user, MAX);
    if (typeof release === 'string') throw Errors.overloaded.with({ headers: { 'Retry-After': '1' } });
    return release;
  }
}

/** Minimum size of a long body, bytes. */
const LONG = 1024 * 1024;
const UTF_8 = /;\s*charset\s*=\s*"?utf-?8"?\s*(?:;|$)/i;

/** @returns the Content-Length of a long, uncompressed UTF-8 body; null for any other body */
export function lengthOfLong({ headers }: Request): number | null {
  const length = Number(headers['content-length'] ?? 0);
  const type = headers['content-type'] ?? '';
  const plain = (headers['content-encoding'] ?? 'identity') === 'identity';
  return length > LONG && plain && (!/charset/i.test(type) || UTF_8.test(type)) ? length : null;
}

/**
 * Reads a long body into one buffer. body-parser would hold it twice: as chunks and concatenated.
 * @param length the Content-Length, which Node's parser enforces
 * @throws ApiError 400 `bad_request` when the request ends early
 */
export async function readLong(request: Request, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(length);
  let at = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      at += chunk.copy(body, at);
      countForwardedBytes(chunk.length);
    }
  } catch {
    throw Errors.badRequest.with();
  }
  return body;
}

/** @throws ApiError 400 `invalid_json` */
export function parsedJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw Errors.invalidJson.with();
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  try {
    return JSON.parse(body.toString('utf8', start));
  } catch {
    throw Errors.invalidJson.with();
  }
}
