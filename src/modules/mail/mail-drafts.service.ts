import { Injectable, Logger } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { JsonReply } from '../../platform/http/json-reply.js';
import { messageFields } from './dialect/message.js';
import { recipientsOf } from './dialect/recipients.js';
import { type Fields, isFields } from './fields.js';
import type { MailCall } from './mail-call.js';
import { MailClient, type MailReply, passedOn } from './mail-client.js';
import type { SubmitDraft } from './mail.dto.js';
import { messagePath, messagesPath } from './mail-paths.js';
import { MailErrors } from './mail.errors.js';
import { RecipientsRepository } from './mail-recipients.repository.js';

/** Drafts by the convenience routes, which also remember whom a person writes to. */
@Injectable()
export class MailDraftsService {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly client: MailClient,
    private readonly recipients: RecipientsRepository,
    private readonly db: Db,
  ) {}

  /**
   * Stores a message, as a draft unless the body says otherwise: only drafts can be submitted.
   * @throws ApiError 500 `Proxy failed` also where the mail service reports a success without a message
   */
  create(call: MailCall, mailbox: string, body: Fields): Promise<MailReply> {
    const fields = messageFields({ draft: true, ...body });
    return this.client.as(call, async (session) => {
      const answer = await session.json({ method: 'POST', path: messagesPath(mailbox), body: fields });
      if (answer.status >= 300) return passedOn(answer);
      const { success, message, ...rest } = isFields(answer.value) ? answer.value : {};
      if (success !== true || !isFields(message)) throw MailErrors.proxyFailed.with();
      await this.remember(call.ctx, fields, causeOf(message, mailbox), replaced(fields, mailbox));
      return new JsonReply(JSON.stringify({ message, ...rest }));
    });
  }

  /** The draft is read first: once it is sent, it is gone from there. */
  submit(call: MailCall, { mailbox_id: mailbox, message_id }: SubmitDraft): Promise<MailReply> {
    const path = messagePath({ mailbox: mailbox.toLowerCase(), message: Number(message_id) });
    return this.client.as(call, async (session) => {
      const draft = await session.json({ method: 'GET', path });
      if (draft.status >= 300) return passedOn(draft);
      // Too long to be held, it is still sent; whom to is then not remembered.
      draft.stream?.destroy();
      const sent = await session.json({ method: 'POST', path: [...path, 'submit'], body: {} });
      if (sent.status < 300 && isFields(draft.value)) {
        const cause = causeOf({ mailbox: mailbox.toLowerCase(), id: Number(message_id) }, mailbox);
        await this.remember(call.ctx, draft.value, cause, null);
      }
      return passedOn(sent);
    });
  }

  /** Its failure is logged: what the client asked for has been done. */
  private async remember(
    ctx: RequestContext,
    message: Fields,
    cause: string,
    previous: string | null,
  ): Promise<void> {
    const found = recipientsOf(message);
    if (found.length === 0) return;
    try {
      await this.db.single((tx) => this.recipients.record(tx, ctx, found, cause, previous));
    } catch (error) {
      this.logger.error({ err: error }, 'recipients could not be remembered');
    }
  }
}

/** Names a message among all of a person's. */
const causeOf = ({ mailbox, id }: Fields, otherwise: string): string =>
  `${typeof mailbox === 'string' ? mailbox.slice(0, 24) : otherwise}/${Number(id)}`.toLowerCase();

/** The draft that a new version takes the place of, which has been counted. */
function replaced({ replacePrevious }: Fields, mailbox: string): string | null {
  return isFields(replacePrevious) ? causeOf(replacePrevious, mailbox) : null;
}
