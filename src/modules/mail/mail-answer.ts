import type { Readable } from 'node:stream';
import type { UpstreamAnswer } from './mail-upstream.js';
import { isFields } from './dialect/words.js';

/** An answer up to this size is read whole before any of it is passed on, so that a broken one can still be told. */
export const MAX_BUFFERED = 1024 * 1024;
const SHORT = 16 * 1024;

/** A JSON answer of the mail service, ready to be passed on as it is. */
export interface JsonAnswer {
  status: number;
  /** The whole text, as bytes where it is long; null where it is too long to be held. */
  text: string | Buffer | null;
  /** What it says; undefined where it is too long. */
  value: unknown;
  /** The long text. Somebody has to read or destroy it. */
  stream: Readable | null;
}

/** Why an answer is none; the message is for the log. */
export class UnusableAnswer extends Error {}

/**
 * Reads an answer that has to be JSON.
 * @throws UnusableAnswer for a redirect, another type, text that is no JSON, an answer cut off, and what WildDuck sends
 *   when it fails without noticing: status 200 with an error and nothing else
 */
export async function jsonAnswer({ status, headers, body }: UpstreamAnswer): Promise<JsonAnswer> {
  try {
    if (status < 200 || (status >= 300 && status < 400)) throw new UnusableAnswer(`status ${status}`);
    if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
      throw new UnusableAnswer('not JSON by its type');
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new UnusableAnswer('encoded');
    const { bytes, ended } = await beginning(body);
    if (!ended) return long(status, bytes, body);
    const text = bytes.toString('utf8');
    const value = parsed(text);
    if (status < 300 && isFields(value) && Object.hasOwn(value, 'error') && value['success'] !== true)
      throw new UnusableAnswer('an error with status 200');
    // A short text is written in one piece with the headers.
    return { status, text: bytes.length > SHORT ? bytes : text, value, stream: null };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

function long(status: number, bytes: Buffer, body: Readable): JsonAnswer {
  if (!/^\s*[{[]/.test(bytes.toString('latin1', 0, 64))) throw new UnusableAnswer('not JSON');
  body.unshift(bytes);
  return { status, text: null, value: undefined, stream: body };
}

/** The answer as far as it may be held. */
function beginning(body: Readable): Promise<{ bytes: Buffer; ended: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const settle = (ended: boolean): void => {
      body.off('data', take).off('end', end).off('error', broken).off('close', broken);
      resolve({ bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), ended });
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_BUFFERED) return;
      body.pause();
      settle(false);
    };
    const end = (): void => settle(true);
    const broken = (): void => reject(new UnusableAnswer('cut off'));
    body.on('data', take).on('end', end).on('error', broken).on('close', broken);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableAnswer('not JSON');
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
