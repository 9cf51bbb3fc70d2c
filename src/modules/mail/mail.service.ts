import { Injectable } from '@nestjs/common';
import { hides, mailboxFields, newMailbox } from './dialect/mailbox.js';
import { messageChanges, messageFields, submitFields } from './dialect/message.js';
import { mailboxListQuery, messageListQuery } from './dialect/query.js';
import { type Fields, isFields } from './fields.js';
import type { MailCall } from './mail-call.js';
import { MailClient, type MailReply, passedOn } from './mail-client.js';
import { MailMoves } from './mail-moves.js';
import { MailErrors } from './mail.errors.js';
import type { UpstreamRequest } from './upstream/mail-upstream.js';
import { mailboxPath, messagePath, messagesPath } from './mail-paths.js';

/** The mailbox and message routes: the contract's fields in, the mail service's answer out. */
@Injectable()
export class MailService {
  constructor(
    private readonly client: MailClient,
    private readonly moves: MailMoves,
  ) {}

  listMailboxes(call: MailCall): Promise<MailReply> {
    return this.pass(call, {
      method: 'GET',
      path: ['mailboxes'],
      query: mailboxListQuery(call.target.query),
    });
  }

  /**
   * @throws ApiError 422 `hidden_mailbox_not_allowed`
   * @returns the mail service's answer to the creation, or, where one was needed and failed, to what had to follow
   */
  createMailbox(call: MailCall, body: Fields): Promise<MailReply> {
    if (hides(body, call.target.query)) throw MailErrors.hiddenNotAllowed.with();
    const { fields, after } = newMailbox(body);
    return this.client.as(call, async (session) => {
      const created = await session.json({ method: 'POST', path: ['mailboxes'], body: fields });
      const id = isFields(created.value) ? created.value['id'] : undefined;
      if (after === null || created.status >= 300 || typeof id !== 'string' || !/^[0-9a-f]{24}$/i.test(id))
        return passedOn(created);
      const followed = await session.json({ method: 'PUT', path: mailboxPath(id), body: after });
      return passedOn(followed.status < 300 ? created : followed);
    });
  }

  readMailbox(call: MailCall): Promise<MailReply> {
    return this.pass(call, { method: 'GET', path: mailboxPath(call.target.mailbox) });
  }

  /** @throws ApiError 422 `hidden_mailbox_not_allowed` */
  updateMailbox(call: MailCall, body: Fields): Promise<MailReply> {
    if (hides(body, call.target.query)) throw MailErrors.hiddenNotAllowed.with();
    return this.pass(call, {
      method: 'PUT',
      path: mailboxPath(call.target.mailbox),
      body: mailboxFields(body),
    });
  }

  deleteMailbox(call: MailCall): Promise<MailReply> {
    return this.pass(call, { method: 'DELETE', path: mailboxPath(call.target.mailbox) });
  }

  listMessages(call: MailCall): Promise<MailReply> {
    return this.pass(call, {
      method: 'GET',
      path: messagesPath(call.target.mailbox),
      query: messageListQuery(call.target.query),
    });
  }

  createMessage(call: MailCall, body: Fields): Promise<MailReply> {
    return this.pass(call, {
      method: 'POST',
      path: messagesPath(call.target.mailbox),
      body: messageFields(body),
    });
  }

  readMessage(call: MailCall): Promise<MailReply> {
    return this.pass(call, { method: 'GET', path: messagePath(call.target) });
  }

  /** Changes flags of a message, or moves it. */
  updateMessage(call: MailCall, body: Fields): Promise<MailReply> {
    return this.client.as(call, async (session) => {
      const [first = {}, ...others] = messageChanges(body);
      const path = messagePath(call.target);
      let answer = await session.json({ method: 'PUT', path, body: first });
      for (const change of others) {
        if (answer.status >= 300) break;
        answer = await session.json({ method: 'PUT', path, body: change });
      }
      await this.moves.note(call.ctx, call.target.mailbox, answer.value);
      return passedOn(answer);
    });
  }

  deleteMessage(call: MailCall): Promise<MailReply> {
    return this.pass(call, { method: 'DELETE', path: messagePath(call.target) });
  }

  submitMessage(call: MailCall, body: Fields): Promise<MailReply> {
    return this.pass(call, {
      method: 'POST',
      path: [...messagePath(call.target), 'submit'],
      body: submitFields(body),
    });
  }

  private pass(call: MailCall, request: UpstreamRequest): Promise<MailReply> {
    return this.client.as(call, async (session) => passedOn(await session.json(request)));
  }
}
