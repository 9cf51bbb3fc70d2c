import type { Readable } from 'node:stream';
import type { AnswerBody } from './answer-body.js';
import type { UpstreamAnswer } from './mail-upstream.js';
import { type Fields, isFields } from '../fields.js';

/** An answer up to this size is read whole before any of it is passed on, so that a broken one can still be told. */
export const MAX_BUFFERED = 1024 * 1024;
const SHORT = 16 * 1024;

/** A JSON answer of the mail service, ready to be passed on as it is. */
export class JsonAnswer {
  /**
   * @param text the whole of it, as bytes where it is long; null where it is too long to be held
   * @param stream the text that is too long. Somebody has to read or destroy it
   */
  constructor(
    readonly status: number,
    readonly text: string | Buffer | null,
    private known: unknown,
    readonly stream: Readable | null = null,
  ) {}

  /** What it says; undefined where it is too long, or long and no JSON after all. */
  get value(): unknown {
    if (this.known === UNREAD) {
      this.known = parsed(String(this.text));
    }
    return this.known;
  }
}

const UNREAD = Symbol('unread');

/** How the mail service begins what it has done, and how it ends. */
const SUCCESS = /^\s*\{\s*"success"\s*:\s*true\s*,/;
const END = /\}\s*$/;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Why an answer is none; the message is for the log. */
export class UnusableAnswer extends Error {}

/**
 * Reads an answer that has to be JSON. A long one is known by its beginning and its end.
 * @throws UnusableAnswer for a redirect, another type, text that is no JSON, an answer cut off, and what WildDuck sends
 *   when it fails without noticing: status 200 with an error and nothing else
 */
export async function jsonAnswer({ status, headers, body }: UpstreamAnswer): Promise<JsonAnswer> {
  try {
    if (status < 200 || (status >= 300 && status < 400) || status >= 600)
      throw new UnusableAnswer(`status ${status}`);
    if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new UnusableAnswer('not JSON by its type');
    if (isEncoded(headers)) throw new UnusableAnswer('encoded');
    const { bytes, ended } = await beginning(body);
    if (!ended) return tooLong(status, bytes, body);
    if (isLongSuccess(status, bytes)) return new JsonAnswer(status, bytes, UNREAD);
    const text = bytes.toString('utf8');
    const value = parsed(text);
    if (value === undefined) throw new UnusableAnswer('not JSON');
    if (status < 300 && isErrorOnly(value)) throw new UnusableAnswer('an error with status 200');
    // A short text is written in one piece with the headers.
    return new JsonAnswer(status, bytes.length > SHORT ? bytes : text, value);
  } catch (error) {
    body.destroy();
    throw error;
  }
}

/**
 * Looks whether a successful answer is a file, which may then be read from its body.
 * @throws UnusableAnswer where it is empty of its kind, a part, encoded, or WildDuck's error with status 200. That one
 *   has a charset or a length, as no attachment has there: so a file that looks like an error stays a file
 */
export async function fileAnswer({ status, headers, body }: UpstreamAnswer): Promise<void> {
  try {
    if (status !== 200) throw new UnusableAnswer(`status ${status}`);
    if (isEncoded(headers)) throw new UnusableAnswer('encoded');
    const type = headers['content-type'] ?? '';
    if (!JSON_TYPE.test(type) || !(/charset/i.test(type) || headers['content-length'] !== undefined)) return;
    const { bytes, ended } = await beginning(body, SHORT);
    const value = ended ? parsed(bytes.toString()) : undefined;
    if (isErrorOnly(value) && Object.keys(value).every((key) => ERROR_KEYS.has(key)))
      throw new UnusableAnswer('an error with status 200');
  } catch (error) {
    body.destroy();
    throw error;
  }
}

const isEncoded = (headers: UpstreamAnswer['headers']): boolean =>
  (headers['content-encoding'] ?? 'identity') !== 'identity';

const ERROR_KEYS = new Set(['error', 'code', 'details']);

const isErrorOnly = (value: unknown): value is Fields =>
  isFields(value) && Object.hasOwn(value, 'error') && value['success'] !== true;

function tooLong(status: number, bytes: Buffer, body: AnswerBody): JsonAnswer {
  if (!/^\s*[{[]/.test(bytes.toString('latin1', 0, 64))) throw new UnusableAnswer('not JSON');
  return new JsonAnswer(status, null, undefined, body.stream());
}

/** A page of messages or the like, whole: reading it to know that it is JSON would cost more than passing it on. */
function isLongSuccess(status: number, bytes: Buffer): boolean {
  return (
    bytes.length > SHORT &&
    status < 300 &&
    SUCCESS.test(bytes.toString('latin1', 0, 64)) &&
    END.test(bytes.toString('latin1', bytes.length - 64))
  );
}

async function beginning(body: AnswerBody, limit = MAX_BUFFERED): Promise<{ bytes: Buffer; ended: boolean }> {
  try {
    return await body.beginning(limit);
  } catch {
    throw new UnusableAnswer('cut off');
  }
}

/** Undefined, which nothing in JSON is, for text that is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * True when the mail service does not accept the token: that is between it and us, never the caller's 401 or 403.
 * WildDuck says 403 `InvalidToken` to a token that has died, `MissingPrivileges` to one that may not do this.
 */
export function refusesToken(answer: JsonAnswer): boolean {
  if (answer.status === 401) return true;
  return (answer.status === 403 && codeOf(answer) === 'InvalidToken') || lacksPrivilege(answer);
}

/** True when the role that the token has does not extend to this. */
export const lacksPrivilege = (answer: JsonAnswer): boolean =>
  answer.status === 403 && codeOf(answer) === 'MissingPrivileges';

/** The mail service's own word for a refusal, e.g. `UserNotFound`. */
export const codeOf = ({ value }: JsonAnswer): unknown => (isFields(value) ? value['code'] : undefined);
