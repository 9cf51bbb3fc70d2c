import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { bearerToken, notAuthenticated } from '../../../platform/context/bearer.guard.js';
import { TokenResolver } from '../../../platform/context/request-context.js';
import { writeJson } from '../../../platform/http/replies/reply-writer.js';
import { asMailError } from '../mail-exception.filter.js';
import { MailErrors } from '../mail.response.js';

/** The operations of the mail API: the contract's fixed list. */
type MailOperation =
  | 'createDraft'
  | 'submitDraft'
  | 'readAttachment'
  | 'listMailboxes'
  | 'createMailbox'
  | 'readMailbox'
  | 'updateMailbox'
  | 'deleteMailbox'
  | 'listMessages'
  | 'createMessage'
  | 'updateMessages'
  | 'readMessage'
  | 'updateMessage'
  | 'deleteMessage'
  | 'submitMessage';

/** The checked parts of a request target. Paths at the mail service are built from these only. */
export interface MailTarget {
  readonly operation: MailOperation;
  /** 24 hex digits, lower case; empty for operations without a mailbox. */
  readonly mailbox: string;
  /** A positive safe integer; 0 for operations without a message. */
  readonly message: number;
  /** The raw query string without the question mark. */
  readonly query: string;
}

/** A target below the mail API that is not one of its operations. */
export const REJECTED = Symbol('rejected');

const BASE = '/apis/v1/mail';

type Methods = Readonly<Record<string, MailOperation>>;

/** Literal methods and paths: no HEAD for GET, no other spelling of a path. */
const FIXED: Readonly<Record<string, Methods>> = {
  '/draft': { POST: 'createDraft' },
  '/draft/submit': { POST: 'submitDraft' },
  '/attachment': { GET: 'readAttachment' },
  '/users/me/mailboxes': { GET: 'listMailboxes', POST: 'createMailbox' },
};
const MAILBOX: Methods = { GET: 'readMailbox', PUT: 'updateMailbox', DELETE: 'deleteMailbox' };
const MESSAGES: Methods = { GET: 'listMessages', POST: 'createMessage', PUT: 'updateMessages' };
const MESSAGE: Methods = { GET: 'readMessage', PUT: 'updateMessage', DELETE: 'deleteMessage' };
const SUBMIT: Methods = { POST: 'submitMessage' };

const BELOW_MAILBOXES =
  /^\/users\/me\/mailboxes\/([0-9a-fA-F]{24})(\/messages(?:\/([1-9]\d{0,15})(\/submit)?)?)?$/;

/**
 * Matches the request target as received, before decoding or normalisation. Only literal operations match, so no spelling
 * can mean one operation here and another at the mail service.
 *
 * @param target of the request line
 * @returns the operation; REJECTED for other targets below the mail API; null for targets outside of it
 */
export function mailTarget(method: string, target: string): MailTarget | typeof REJECTED | null {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!isMailPath(path)) return null;
  if (!path.startsWith(BASE)) return REJECTED;
  const rest = path.slice(BASE.length);
  const match = BELOW_MAILBOXES.exec(rest);
  const [, mailbox = '', messages, number, submit] = match ?? [];
  const message = Number(number ?? 0);
  if (!Number.isSafeInteger(message)) return REJECTED;
  let methods = match === null ? lookUp(FIXED, rest) : MAILBOX;
  if (messages !== undefined) methods = MESSAGES;
  if (number !== undefined) methods = MESSAGE;
  if (submit !== undefined) methods = SUBMIT;
  const operation = methods && lookUp(methods, method);
  if (operation === undefined) return REJECTED;
  return {
    operation,
    mailbox: mailbox.toLowerCase(),
    message,
    query: mark < 0 ? '' : target.slice(mark + 1),
  };
}

const lookUp = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Levels of percent-encoding that are recognised. */
const MAX_DECODINGS = 4;
const ESCAPE = /%([0-9a-fA-F]{2})/g;

/**
 * True when any HTTP implementation could read the path as one of the mail API. Lenient on purpose: it only decides which of
 * two 404 errors is returned.
 */
function isMailPath(path: string): boolean {
  if (isBelow(path)) return true;
  // Fast path for other domains.
  if (!path.includes('%') && !/mail/i.test(path)) return false;
  let text = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/\\]*/i, '');
  for (let n = 0; n <= MAX_DECODINGS; n += 1) {
    if (isBelow(normalized(text, false)) || isBelow(normalized(text, true))) return true;
    const decoded = text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return false;
    text = decoded;
  }
  return false;
}

const isBelow = (path: string): boolean =>
  path.startsWith(BASE) && (path.length === BASE.length || path.charCodeAt(BASE.length) === 47);

/** The path as the most lenient implementation would normalise it. */
function normalized(path: string, withoutDots: boolean): string {
  const segments: string[] = [];
  for (const segment of path.replaceAll('\\', '/').toLowerCase().split('/')) {
    const name = segment.replace(/;.*$/s, '').replace(/[\0-\x20\x7f]/g, '');
    if (name === '' || name === '.') continue;
    if (name === '..' && withoutDots) segments.pop();
    else segments.push(name);
  }
  return `/${segments.join('/')}`;
}

const targets = new WeakMap<Request, MailTarget>();

/** @throws ApiError 404 `mail_endpoint_not_available` for a request that did not pass the gate */
export function targetOf(request: Request): MailTarget {
  const target = targets.get(request);
  if (target === undefined) throw MailErrors.endpointNotAvailable.with();
  return target;
}

/**
 * Runs before the router, which decodes paths and adds HEAD to each GET. Only literal operations of the mail API pass. Other
 * requests below `/apis/v1/mail` are rejected here: 401 without a valid token, else 404.
 */
@Injectable()
export class MailGate {
  constructor(private readonly tokens: TokenResolver) {}

  readonly handle = (request: Request, response: Response, next: NextFunction): void => {
    const target = mailTarget(request.method, request.url);
    if (target === REJECTED) {
      void this.reject(request, response);
      return;
    }
    if (target !== null) targets.set(request, target);
    next();
  };

  private async reject(request: Request, response: Response): Promise<void> {
    const error = asMailError(await this.errorOf(request));
    const { body, extras, kind } = error;
    writeJson(response, kind.status, JSON.stringify(body), { headers: extras.headers });
  }

  private async errorOf(request: Request): Promise<unknown> {
    try {
      const token = bearerToken(request);
      const caller = token !== undefined && (this.tokens.cached(token) ?? (await this.tokens.resolve(token)));
      return caller ? MailErrors.endpointNotAvailable.with() : notAuthenticated(request);
    } catch (error) {
      return error;
    }
  }
}
