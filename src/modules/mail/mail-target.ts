/** The operations of the mail API: the contract's fixed list. */
export type MailOperation =
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

/** What a request target asks for, in pieces that have been checked. Upstream addresses are built from these only. */
export interface MailTarget {
  readonly operation: MailOperation;
  /** 24 hex digits, lower case; empty where the operation names none. */
  readonly mailbox: string;
  /** A positive safe integer; 0 where the operation names none. */
  readonly message: number;
  /** As sent, without its question mark. */
  readonly query: string;
}

/** Below the mail API, and not one of its operations. */
export const REFUSED = Symbol('refused');

const BASE = '/apis/v1/mail';

type Methods = Readonly<Record<string, MailOperation>>;

/** Method and path, and nothing else: no HEAD beside a GET, no other spelling of a path. */
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
 * Decides on the request target as it came over the wire, before anything decodes or tidies it: what is not literally one
 * of the operations is refused, so no spelling can mean one thing here and another at the mail service.
 *
 * @param target of the request line
 * @returns the operation; REFUSED for anything else below the mail API; null for what is not the mail API's
 */
export function mailTarget(method: string, target: string): MailTarget | typeof REFUSED | null {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (!concernsMail(path)) return null;
  if (!path.startsWith(BASE)) return REFUSED;
  const rest = path.slice(BASE.length);
  const match = BELOW_MAILBOXES.exec(rest);
  const [, mailbox = '', messages, number, submit] = match ?? [];
  const message = Number(number ?? 0);
  if (!Number.isSafeInteger(message)) return REFUSED;
  let methods = match === null ? lookUp(FIXED, rest) : MAILBOX;
  if (messages !== undefined) methods = MESSAGES;
  if (number !== undefined) methods = MESSAGE;
  if (submit !== undefined) methods = SUBMIT;
  const operation = methods && lookUp(methods, method);
  if (operation === undefined) return REFUSED;
  return {
    operation,
    mailbox: mailbox.toLowerCase(),
    message,
    query: mark < 0 ? '' : target.slice(mark + 1),
  };
}

const lookUp = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** How often a path may be percent-encoded and still be recognised. */
const MAX_DECODINGS = 4;
const ESCAPE = /%([0-9a-fA-F]{2})/g;

/**
 * True when some reader along the way could take the path for one of the mail API. Generous on purpose: all it decides is
 * which of two 404s is given.
 */
function concernsMail(path: string): boolean {
  if (isBelow(path)) return true;
  // What the paths of other domains look like needs no second look.
  if (!path.includes('%') && !/mail/i.test(path)) return false;
  let text = path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/\\]*/i, '');
  for (let n = 0; n <= MAX_DECODINGS; n += 1) {
    if (isBelow(plain(text, false)) || isBelow(plain(text, true))) return true;
    const decoded = text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === text) return false;
    text = decoded;
  }
  return false;
}

const isBelow = (path: string): boolean =>
  path.startsWith(BASE) && (path.length === BASE.length || path.charCodeAt(BASE.length) === 47);

/** The path as the most forgiving reader would see it. */
function plain(path: string, withoutDots: boolean): string {
  const segments: string[] = [];
  for (const segment of path.replaceAll('\\', '/').toLowerCase().split('/')) {
    const name = segment.replace(/;.*$/s, '').replace(/[\0-\x20\x7f]/g, '');
    if (name === '' || name === '.') continue;
    if (name === '..' && withoutDots) segments.pop();
    else segments.push(name);
  }
  return `/${segments.join('/')}`;
}
