import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { ApiError } from '../../../platform/http/errors.js';
import { type Fields, isFields, isObjectId } from '../input/fields.js';
import { messagePath, messagesPath } from '../mail-call.js';
import { mailboxesOf, MailClient, type MailOwner, type MailSession } from '../mail-client.js';
import { MailErrors } from '../mail.response.js';
import type { JsonResponse } from '../upstream-response.js';
import { CalendarMailRepository } from './calendar-mail.repository.js';
import { listPage } from '../inbox-walk.js';

/** A message that a user sends from their own account. */
export interface OwnMessage {
  /** `<id@domain>`: identifies the message in the mailboxes when sending is repeated. */
  messageId: string;
  to: string;
  /** The MIME text. Its Message-ID is `messageId`. */
  raw: string;
  /** No copy of the message is older. */
  createdAt: Date;
}

export type SendOutcome =
  | { kind: 'sent' }
  /** Try again later. `isLimit`: the user has reached a limit of the mail service, so other messages would be refused too. */
  | { kind: 'retry'; reason: string; isLimit: boolean }
  /** `no_mail`: no mail service, or no account; `rejected`: the mail service rejects the message. */
  | { kind: 'failed'; reason: 'no_mail' | 'rejected' };

/** A mailbox is searched for an earlier attempt by pages, down to messages that are older, and at most 5,000 messages. */
const PAGE_ROWS = 100;
const SEARCHED_PAGES = 50;
/** Both searches of an attempt together: the claim of the message must not expire meanwhile. */
const SEARCH_MS = 60_000;
/** The clocks of this server and of the mail service may differ. */
const CLOCK_MARGIN_MS = 3_600_000;

const LIMIT_CODES: ReadonlySet<unknown> = new Set(['RateLimitedError', 'OverQuotaError']);

/** Sends messages from the accounts of users. The mail service stores copies in their mailbox Sent. */
@Injectable()
export class OwnMail {
  constructor(
    private readonly client: MailClient,
    private readonly repository: CalendarMailRepository,
    private readonly config: Config,
  ) {}

  /** Whether this installation has a mail service. */
  get isConfigured(): boolean {
    return this.config.mailService !== null;
  }

  /**
   * The address from which a user sends; null without a mail account.
   * @throws ApiError when the mail service does not respond
   */
  async addressOf(owner: MailOwner): Promise<string | null> {
    if (!this.isConfigured) return null;
    const created = await this.repository.address(owner);
    if (created !== null) return created.toLowerCase();
    try {
      const { value } = await this.client.openBackground(owner).json({ method: 'GET', path: [] });
      const found = isFields(value) ? value['address'] : undefined;
      if (typeof found === 'string' && found !== '') return found.toLowerCase();
      return (await this.repository.address(owner))?.toLowerCase() ?? null;
    } catch (error) {
      if (error instanceof ApiError && error.kind === MailErrors.accountRequired) return null;
      throw error;
    }
  }

  /**
   * Stores the message as a draft and submits it.
   * @param isRepeated an earlier attempt may have stored or sent the message: Sent and Drafts are searched for it
   */
  async send(owner: MailOwner, message: OwnMessage, isRepeated: boolean): Promise<SendOutcome> {
    if (!this.isConfigured) return { kind: 'failed', reason: 'no_mail' };
    try {
      return await this.sendIn(this.client.openBackground(owner), message, isRepeated);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === MailErrors.accountRequired) return { kind: 'failed', reason: 'no_mail' };
      return { kind: 'retry', reason: error.kind.code, isLimit: false };
    }
  }

  private async sendIn(session: MailSession, message: OwnMessage, isRepeated: boolean): Promise<SendOutcome> {
    const { to, raw } = message;
    const boxes = await specialBoxes(session);
    const [drafts, sent] = [boxes.get('\\Drafts'), boxes.get('\\Sent')];
    if (drafts === undefined) return { kind: 'retry', reason: 'no_drafts_mailbox', isLimit: false };
    let draft: number | null = null;
    if (isRepeated) {
      const earlier = await findEarlier(session, { sent, drafts }, message);
      if (earlier === 'timeout') return { kind: 'retry', reason: 'search_timeout', isLimit: false };
      if (earlier === 'sent') return { kind: 'sent' };
      draft = earlier;
    }
    if (draft === null) {
      const body = { draft: true, raw, to: [{ address: to }] };
      const stored = await session.json({ method: 'POST', path: messagesPath(drafts), body });
      draft =
        isFields(stored.value) && isFields(stored.value['message'])
          ? Number(stored.value['message']['id'])
          : null;
      if (stored.status >= 300 || draft === null) return rejection(stored);
    }
    const path = messagePath({ mailbox: drafts, message: draft });
    const submitted = await session.json({ method: 'POST', path: [...path, 'submit'], body: {} });
    if (submitted.status < 300) return { kind: 'sent' };
    const outcome = rejection(submitted);
    // The user should not find, or send, drafts of a mail that is sent later. If this fails, the next attempt finds the draft.
    if (outcome.kind === 'retry' && outcome.isLimit)
      await session.json({ method: 'DELETE', path }).catch(() => undefined);
    return outcome;
  }
}

/** Limits and failures of the mail service are temporary. Any other rejection of a message is final. */
function rejection({ status, code }: JsonResponse): SendOutcome {
  const isLimit = LIMIT_CODES.has(code);
  return isLimit || status < 300 || status >= 500
    ? { kind: 'retry', reason: typeof code === 'string' ? code : `status ${status}`, isLimit }
    : { kind: 'failed', reason: 'rejected' };
}

async function specialBoxes(session: MailSession): Promise<Map<unknown, string>> {
  const boxes = await mailboxesOf(session);
  return new Map(boxes.flatMap(({ specialUse, id }) => (isObjectId(id) ? [[specialUse, id]] : [])));
}

/** What earlier attempts have left: a sent message, the id of a draft, or null. `timeout`: the mail service was too slow to tell. */
async function findEarlier(
  session: MailSession,
  { sent, drafts }: { sent: string | undefined; drafts: string },
  message: OwnMessage,
): Promise<'sent' | 'timeout' | number | null> {
  const ended = new AbortController();
  const search = async () =>
    sent !== undefined && (await find(session, sent, message, ended.signal)) !== null
      ? ('sent' as const)
      : find(session, drafts, message, ended.signal);
  const timeout = delay(SEARCH_MS, 'timeout' as const, { ref: false, signal: ended.signal });
  // The end of the search cancels the timer.
  timeout.catch(() => undefined);
  try {
    return await Promise.race([search(), timeout]);
  } finally {
    ended.abort();
  }
}

/**
 * The id of the copy of a message in a mailbox, or null.
 * @param signal ends the search before its next page
 * @throws MailboxListError when the mail service does not list the mailbox
 */
async function find(
  session: MailSession,
  mailbox: string,
  { messageId, createdAt }: OwnMessage,
  signal: AbortSignal,
): Promise<number | null> {
  const oldest = createdAt.getTime() - CLOCK_MARGIN_MS;
  const isOlder = ({ idate, date }: Fields): boolean => Date.parse(String(idate ?? date)) < oldest;
  let page: string | null = null;
  for (let read = 0; read < SEARCHED_PAGES && !signal.aborted; read += 1) {
    const { rows, next } = await listPage(session, mailbox, PAGE_ROWS, page);
    const found = rows.find((row) => row['messageId'] === messageId);
    if (found) return Number(found['id']);
    if (next === null || rows.every(isOlder)) return null;
    page = next;
  }
  return null;
}
