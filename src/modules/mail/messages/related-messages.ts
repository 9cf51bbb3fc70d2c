import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { foldedWords, nameWords } from '../../../lib/search-text/index.js';
import { addressKey } from '../../../lib/text/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/http/errors.js';
import {
  type RelatedItem,
  RelatedItems,
  type RelatedQuery,
} from '../../../platform/references/related-items.js';
import { type Fields, isObjectId, resultsOf } from '../input/fields.js';
import { messagesPath } from '../mail-call.js';
import { mailboxesOf, MailClient, type MailSession } from '../mail-client.js';
import { recipientKey, recipientOf } from './drafts/recipients.js';

/** Newest messages of each mailbox that are compared. */
const COMPARED = 100;
/** After this time without a result, no messages are returned. */
const TIMEOUT_MS = 5_000;
const SCORES = { attendee: 0.6, title: 0.5, word: 0.3 };

/**
 * Finds messages with the addresses or the words of a query, among the newest ones of the caller's inbox and of the sent messages.
 * Reads message lists in place of WildDuck's search: every mail service has lists, and they cost the same for each query.
 */
@Injectable()
export class RelatedMessages {
  constructor(
    private readonly client: MailClient,
    private readonly config: Config,
    related: RelatedItems,
  ) {
    related.register('messages', (ctx, query) => this.find(ctx, query));
  }

  /** Empty without a mail service or an account, and while the mail service fails or is slow. */
  private async find(ctx: RequestContext, query: RelatedQuery): Promise<RelatedItem[]> {
    if (this.config.mailService === null) return [];
    const timeout = delay(TIMEOUT_MS, [], { ref: false });
    try {
      return await Promise.race([this.search(this.client.openBackground(ctx), query), timeout]);
    } catch (error) {
      if (error instanceof ApiError) return [];
      throw error;
    }
  }

  private async search(session: MailSession, query: RelatedQuery): Promise<RelatedItem[]> {
    // The inbox and the mailbox of sent messages.
    const mailboxes = (await mailboxesOf(session)).flatMap(({ id, path, specialUse }) =>
      isObjectId(id) && (path === 'INBOX' || specialUse === '\\Sent') ? [id] : [],
    );
    const pages = await Promise.all(mailboxes.map((mailbox) => messagesOf(session, mailbox)));
    return pages.flat().flatMap((message) => related(message, query) ?? []);
  }
}

async function messagesOf(session: MailSession, mailbox: string): Promise<Fields[]> {
  const query = new URLSearchParams({ limit: String(COMPARED), order: 'desc' });
  const response = await session.json({ method: 'GET', path: messagesPath(mailbox), query });
  return resultsOf(await response.readWhole()).map((message) => ({ ...message, mailbox }));
}

/** @returns undefined for a message that does not match the query */
function related(message: Fields, { texts, emails }: RelatedQuery): RelatedItem | undefined {
  const { id, mailbox, from, to, subject, date } = message;
  const title = typeof subject === 'string' ? subject : '';
  const users = [from, ...(Array.isArray(to) ? (to as unknown[]) : [])].flatMap(
    (user) => recipientOf(user) ?? [],
  );
  const keys = new Set(emails.map(addressKey));
  const isShared = users.some(({ address }) => keys.has(addressKey(recipientKey(address))));
  const words = new Set(nameWords(title));
  const [whole, ...parts] = texts.map((each) => foldedWords(each).every((word) => words.has(word)));
  const score = Math.max(
    isShared ? SCORES.attendee : 0,
    whole ? SCORES.title : 0,
    parts.some(Boolean) ? SCORES.word : 0,
  );
  if (score === 0) return undefined;
  const time = new Date(typeof date === 'string' ? date : Number.NaN);
  return {
    id: `${String(mailbox)}/${String(id)}`,
    title,
    reason: score === SCORES.attendee ? 'attendee' : 'title',
    score,
    date: Number.isNaN(time.getTime()) ? null : time.toISOString(),
  };
}
