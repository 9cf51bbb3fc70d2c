import type { Readable } from 'node:stream';
import { text as textFrom } from 'node:stream/consumers';
import { type Fields, isFields } from './input/fields.js';
import { MailErrors } from './mail.response.js';
import type { ResponseBody } from './upstream/response-body.js';

/** Responses up to this size, bytes, are read whole before they are forwarded, so that a broken one can become an error. */
const MAX_BUFFERED = 1024 * 1024;
const SHORT = 16 * 1024;

/** Status and headers of a response whose body is still to be read or destroyed. */
export interface UpstreamResponse {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  body: ResponseBody;
}

/** A JSON response of the mail service, ready to be forwarded unchanged. */
export class JsonResponse {
  /**
   * @param text the whole response, as bytes when it is long; null when it is too long to be buffered
   * @param stream the response that is too long; the consumer reads or destroys it
   */
  constructor(
    readonly status: number,
    readonly text: string | Buffer | null,
    private parsedValue: unknown,
    readonly stream: Readable | null = null,
  ) {}

  /** The parsed JSON; undefined when the response is streamed or turns out not to be JSON. */
  get value(): unknown {
    if (this.parsedValue === UNPARSED) this.parsedValue = parsed(String(this.text));
    return this.parsedValue;
  }

  /** The parsed JSON, also of a response that is streamed. May be called once. */
  async readWhole(): Promise<unknown> {
    return this.stream === null ? this.value : JSON.parse(await textFrom(this.stream));
  }

  /** The mail service's own error code, e.g. `UserNotFound`. */
  get code(): unknown {
    return isFields(this.value) ? this.value['code'] : undefined;
  }
}

const UNPARSED = Symbol('unparsed');

/** Appends members to a JSON object. */
export function extendJson(response: JsonResponse, members: Fields): JsonResponse {
  const { status, text, value } = response;
  if (text === null || !isFields(value)) return response;
  const merged = { ...value, ...members };
  return new JsonResponse(status, JSON.stringify(merged), merged);
}

/**
 * Adds `unseen` after each `seen` of a message list. Works on the text, since lists are long: within a JSON string the
 * quotes would be escaped, so only members match.
 */
export function withUnseen(response: JsonResponse): JsonResponse {
  const { status, text } = response;
  if (text === null || status >= 300 || text.includes('"unseen":')) return response;
  const characters = typeof text === 'string' ? text : text.toString('latin1');
  const changed = characters.replace(
    /"seen":(true|false)/g,
    (seen, value) => `${seen},"unseen":${value !== 'true'}`,
  );
  return new JsonResponse(
    status,
    typeof text === 'string' ? changed : Buffer.from(changed, 'latin1'),
    UNPARSED,
  );
}

/** The first and last characters of a successful response. */
const SUCCESS = /^\s*\{\s*"success"\s*:\s*true\s*,/;
const END = /\}\s*$/;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The response cannot be forwarded; the message is for the log. */
export class UnusableResponseError extends Error {}

/**
 * Reads a response that has to be JSON. A long response is checked only at its beginning and end.
 * @throws UnusableResponseError for a redirect, another media type, invalid JSON, a truncated response, and status 200
 *   with an error object, which WildDuck sends for exceptions without a status; status 5xx without an error object
 * @throws ApiError 503 `mail_service_busy` for status 503 without an error object
 */
export async function readJson({ status, headers, body }: UpstreamResponse): Promise<JsonResponse> {
  try {
    if (status < 200 || (status >= 300 && status < 400) || status >= 600)
      throw new UnusableResponseError(`status ${status}`);
    if (!JSON_TYPE.test(headers['content-type'] ?? ''))
      throw new UnusableResponseError('media type is not JSON');
    if (isEncoded(headers)) throw new UnusableResponseError('encoded');
    const { bytes, ended } = await beginning(body, MAX_BUFFERED);
    if (!ended) return streamed(status, bytes, body);
    if (isLongSuccess(status, bytes)) return new JsonResponse(status, bytes, UNPARSED);
    const text = bytes.toString('utf8');
    const value = parsed(text);
    if (value === undefined) throw new UnusableResponseError('not JSON');
    if (status < 300 && isErrorOnly(value)) throw new UnusableResponseError('an error with status 200');
    // The service itself is overloaded or without its database: `{code, message}`, as of WildDuck's HTTP layer.
    if (status === 503 && !hasError(value)) throw MailErrors.busy.with(retryAfter(headers['retry-after']));
    if (status >= 500 && !hasError(value))
      throw new UnusableResponseError(`status ${status} without an error`);
    // A short text is written in one piece with the headers.
    return new JsonResponse(status, bytes.length > SHORT ? bytes : text, value);
  } catch (error) {
    body.destroy();
    throw error;
  }
}

/**
 * Checks that a successful response is a file. Its body stays readable.
 * @throws UnusableResponseError for another status, an encoded response, and WildDuck's error with status 200. The error has a
 *   charset or a length, which attachments of WildDuck do not have. Attachments of the embedded service have a
 *   Content-Disposition, which the error does not have. So a JSON file that looks like an error is forwarded
 */
export async function checkFile({ status, headers, body }: UpstreamResponse): Promise<void> {
  try {
    if (status !== 200) throw new UnusableResponseError(`status ${status}`);
    if (isEncoded(headers)) throw new UnusableResponseError('encoded');
    const type = headers['content-type'] ?? '';
    if (headers['content-disposition'] !== undefined || !JSON_TYPE.test(type)) return;
    if (!/charset/i.test(type) && headers['content-length'] === undefined) return;
    const { bytes, ended } = await beginning(body, SHORT);
    const value = ended ? parsed(bytes.toString()) : undefined;
    if (isErrorOnly(value) && Object.keys(value).every((key) => ERROR_KEYS.has(key)))
      throw new UnusableResponseError('an error with status 200');
  } catch (error) {
    body.destroy();
    throw error;
  }
}

const isEncoded = (headers: UpstreamResponse['headers']): boolean =>
  (headers['content-encoding'] ?? 'identity') !== 'identity';

const hasError = (value: unknown): boolean => isFields(value) && typeof value['error'] === 'string';

/** The client waits as long as the service asks for; one second if it does not say. */
const retryAfter = (seconds = '') => ({
  headers: { 'Retry-After': /^\d{1,4}$/.test(seconds) ? seconds : '1' },
});

const ERROR_KEYS = new Set(['error', 'code', 'details']);

const isErrorOnly = (value: unknown): value is Fields =>
  isFields(value) && Object.hasOwn(value, 'error') && value['success'] !== true;

function streamed(status: number, bytes: Buffer, body: ResponseBody): JsonResponse {
  if (!/^\s*[{[]/.test(bytes.toString('latin1', 0, 64))) throw new UnusableResponseError('not JSON');
  return new JsonResponse(status, null, undefined, body.stream());
}

/** Long success responses, e.g. message lists, are not parsed: that would cost more than forwarding them. */
function isLongSuccess(status: number, bytes: Buffer): boolean {
  return (
    bytes.length > SHORT &&
    status < 300 &&
    SUCCESS.test(bytes.toString('latin1', 0, 64)) &&
    END.test(bytes.toString('latin1', bytes.length - 64))
  );
}

async function beginning(body: ResponseBody, limit: number): Promise<{ bytes: Buffer; ended: boolean }> {
  try {
    return await body.beginning(limit);
  } catch {
    throw new UnusableResponseError('truncated');
  }
}

/** @returns undefined for invalid JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * True when the mail service does not accept our token, which must not become the caller's 401 or 403. WildDuck responds
 * 403 `InvalidToken` to an expired token, 403 `MissingPrivileges` to one whose role does not allow the operation.
 */
export const rejectsToken = (response: JsonResponse): boolean =>
  response.status === 401 ||
  (response.status === 403 && response.code === 'InvalidToken') ||
  lacksPrivilege(response);

/** True when the mail service rejects a request because it does not know this field. */
export function isUnknownField({ status, code, value }: JsonResponse, field: string): boolean {
  if (status !== 400 || code !== 'InputValidationError' || !isFields(value)) return false;
  const { details } = value;
  return isFields(details) && Object.keys(details).some((key) => key.split(',').at(-1) === field);
}

/** True when the role of the token does not allow the operation. */
export const lacksPrivilege = ({ status, code }: JsonResponse): boolean =>
  status === 403 && code === 'MissingPrivileges';
