import { type Fields, isFields, resultsOf } from '../input/fields.js';
import { messagesPath } from '../mail-call.js';
import type { MailSession } from '../mail-client.js';

/** The mail service does not list a mailbox. */
export class MailboxListError extends Error {
  constructor(readonly status: number) {
    super(`the mail service responded ${status} to a message list`);
  }
}

/**
 * A page of a mailbox, newest messages first.
 * @param page cursor; null: the first page
 * @throws MailboxListError
 */
export async function listed(
  session: MailSession,
  mailbox: string,
  limit: number,
  page: string | null,
): Promise<{ rows: Fields[]; next: string | null }> {
  const query = new URLSearchParams({ limit: String(limit), order: 'desc' });
  if (page !== null) query.set('next', page);
  const response = await session.json({ method: 'GET', path: messagesPath(mailbox), query });
  const list = await response.whole();
  if (response.status >= 300 || !isFields(list) || !Array.isArray(list['results']))
    throw new MailboxListError(response.status);
  const next = typeof list['nextCursor'] === 'string' ? list['nextCursor'] : null;
  return { rows: resultsOf(list), next };
}
