import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { ApiError } from '../../../platform/http/errors.js';
import { isFields, isObjectId } from '../input/fields.js';
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
}

export type SendOutcome =
  | { kind: 'sent' }
  /** Try again later. */
  | { kind: 'retry'; reason: string }
  /** `no_mail`: no mail service, or no account; `rejected`: the mail service rejects the message. */
  | { kind: 'failed'; reason: 'no_mail' | 'rejected' };

/** Newest messages of a mailbox that are searched for an earlier attempt. */
const SEARCHED = 100;

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
      return { kind: 'retry', reason: error.kind.code };
    }
  }

  private async sendIn(
    session: MailSession,
    { messageId, to, raw }: OwnMessage,
    isRepeated: boolean,
  ): Promise<SendOutcome> {
    const boxes = await specialBoxes(session);
    const [drafts, sent] = [boxes.get('\\Drafts'), boxes.get('\\Sent')];
    if (drafts === undefined) return { kind: 'retry', reason: 'no_drafts_mailbox' };
    let draft: number | null = null;
    if (isRepeated) {
      if (sent !== undefined && (await find(session, sent, messageId)) !== null) return { kind: 'sent' };
      draft = await find(session, drafts, messageId);
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
    const path = [...messagePath({ mailbox: drafts, message: draft }), 'submit'];
    const submitted = await session.json({ method: 'POST', path, body: {} });
    return submitted.status < 300 ? { kind: 'sent' } : rejection(submitted);
  }
}

/** Limits and failures of the mail service are temporary. Any other rejection of a message is final. */
function rejection({ status, code }: JsonResponse): SendOutcome {
  const isTemporary =
    status < 300 || status >= 500 || code === 'RateLimitedError' || code === 'OverQuotaError';
  return isTemporary
    ? { kind: 'retry', reason: typeof code === 'string' ? code : `status ${status}` }
    : { kind: 'failed', reason: 'rejected' };
}

async function specialBoxes(session: MailSession): Promise<Map<unknown, string>> {
  const boxes = await mailboxesOf(session);
  return new Map(boxes.flatMap(({ specialUse, id }) => (isObjectId(id) ? [[specialUse, id]] : [])));
}

/** The id of a recent message of a mailbox, or null. @throws Error when the mail service does not list the mailbox */
async function find(session: MailSession, mailbox: string, messageId: string): Promise<number | null> {
  const { rows } = await listPage(session, mailbox, SEARCHED, null);
  const found = rows.find((row) => row['messageId'] === messageId);
  return found ? Number(found['id']) : null;
}
