import { type Fields, isFields, resultsOf } from './input/fields.js';
import { messagesPath } from './mail-call.js';
import type { MailSession } from './mail-client.js';
import type { MailCalendarScan } from './mail.schema.js';

/** The mail service does not list a mailbox. */
export class MailboxListError extends Error {
  constructor(readonly status: number) {
    super(`the mail service responded ${status} to a message list`);
  }
}

/** Progress of the search for new messages in an inbox. */
export interface WalkProgress {
  /** Null means that the next search begins with the newest message of the inbox. */
  mailbox: string | null;
  /** The newest message of the last complete search. Its id is of this mailbox. */
  lastMessage: number;
  /** A search that continues in the next run; null: complete. */
  walk: { nextPage: string; newest: number } | null;
}

/** The same as it is stored. */
export interface WalkRow extends Pick<MailCalendarScan, 'mailbox' | 'next_page' | 'newest_message'> {
  last_message: string | null;
}

/** What one run reads: `messages` of a page, `pages` of a mailbox. */
export interface WalkLimits {
  messages: number;
  pages: number;
}

/**
 * A page of a mailbox, newest messages first.
 * @param page cursor; null: the first page
 * @throws MailboxListError
 */
export async function listPage(
  session: MailSession,
  mailbox: string,
  limit: number,
  page: string | null,
): Promise<{ rows: Fields[]; next: string | null }> {
  const query = new URLSearchParams({ limit: String(limit), order: 'desc' });
  if (page !== null) query.set('next', page);
  const response = await session.json({ method: 'GET', path: messagesPath(mailbox), query });
  const list = await response.readWhole();
  if (response.status >= 300 || !isFields(list) || !Array.isArray(list['results']))
    throw new MailboxListError(response.status);
  const next = typeof list['nextCursor'] === 'string' ? list['nextCursor'] : null;
  return { rows: resultsOf(list), next };
}

/** The progress of a mailbox of which only the newest message is known. */
export async function endOf(session: MailSession, mailbox: string): Promise<WalkProgress> {
  const { rows } = await listPage(session, mailbox, 1, null);
  return { mailbox, lastMessage: idOf(rows[0]), walk: null };
}

/**
 * Lists a mailbox from its newest message, or from where the previous run stopped, down to the last known message.
 * @param isNew also stops at the first message for which it is false
 * @returns the new messages, oldest first, and the progress after them
 * @throws MailboxListError
 */
export async function newMessages(
  session: MailSession,
  mailbox: string,
  row: WalkRow,
  limits: WalkLimits,
  isNew: (message: Fields) => boolean = () => true,
): Promise<{ progress: WalkProgress; found: Fields[] }> {
  const last = Number(row.last_message);
  const found: Fields[] = [];
  let newest = Number(row.newest_message ?? last);
  let page = row.next_page;
  for (let read = 0; read < limits.pages; read += 1) {
    const { rows, next } = await listPage(session, mailbox, limits.messages, page);
    newest = Math.max(newest, ...rows.map(idOf));
    const fresh = rows.filter((message) => idOf(message) > last && isNew(message));
    found.push(...fresh);
    page = fresh.length < rows.length ? null : next;
    if (page === null) break;
  }
  const walk = page === null ? null : { nextPage: page, newest };
  const progress = { mailbox, lastMessage: walk ? last : newest, walk };
  return { progress, found: found.toReversed() };
}

/** The progress after a failed search. The next run repeats the failed part only. */
export function progressAfter(error: unknown, row: WalkRow): WalkProgress {
  const { mailbox, last_message: last, next_page: nextPage, newest_message: newest } = row;
  const walk = nextPage === null ? null : { nextPage, newest: Number(newest) };
  const progress = { mailbox, lastMessage: Number(last ?? 0), walk };
  if (!(error instanceof MailboxListError)) return progress;
  // The cursor may be the cause. An unknown mailbox is one of the account that was linked before.
  return { ...progress, mailbox: error.status === 404 ? null : mailbox, walk: null };
}

const idOf = (message: Fields | undefined): number => Number(message?.['id'] ?? 0);
