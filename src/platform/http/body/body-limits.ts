import { SetMetadata } from '@nestjs/common';
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

/** For operations without `@BodyLimit()`. A contact with every field filled has 17,653 values. */
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
