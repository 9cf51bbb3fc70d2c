import { Injectable, Logger } from '@nestjs/common';
import type { default as Joi } from 'joi';
import { lazy } from '../../../../lib/lazy/index.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import type { FieldProblem } from '../../../../platform/http/api-error.js';
import { Errors, fieldError } from '../../../../platform/http/errors.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { type Fields, isFields } from '../../input/fields.js';
import { type MailCall, messagePath } from '../../mail-call.js';
import { forwarded, MailClient, type MailReply } from '../../mail-client.js';
import { MailErrors } from '../../mail.errors.js';
import { messageFields } from '../message-fields.js';
import { MessageWriter } from '../message-writer.js';
import type { SubmitDraft } from './drafts.dto.js';
import { recipientOf, recipientsOf } from './recipients.js';
import { RecipientsRepository } from './recipients.repository.js';

/** Creates and submits drafts and records their recipients for autocomplete. */
@Injectable()
export class DraftsService {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly client: MailClient,
    private readonly writer: MessageWriter,
    private readonly recipients: RecipientsRepository,
    private readonly db: Db,
  ) {}

  /**
   * Stores a message, as a draft by default: only drafts can be submitted.
   * @throws ApiError 422 `validation_failed` for addresses in `to` that WildDuck would drop silently
   * @throws ApiError 500 `Proxy failed`, also for a success response without a message
   */
  async create(call: MailCall, mailbox: string, body: Fields): Promise<MailReply> {
    const fields = messageFields({ draft: true, ...body });
    rejectUnusable(fields['to']);
    return this.client.as(call, async (session) => {
      const response = await this.writer.create(session, mailbox, fields);
      if (response.status >= 300) return forwarded(response);
      const { success, message, ...rest } = isFields(response.value) ? response.value : {};
      if (success !== true || !isFields(message)) throw MailErrors.proxyFailed.with();
      const { replacePrevious } = fields;
      const previous = isFields(replacePrevious) ? causeOf(replacePrevious, mailbox) : null;
      await this.record(call.ctx, fields, causeOf(message, mailbox), previous);
      return JsonReply.of({ message, ...rest });
    });
  }

  /** Sends a draft. Reads it first, since submission removes it from its mailbox. */
  submit(call: MailCall, { mailbox_id, message_id }: SubmitDraft): Promise<MailReply> {
    const [mailbox, message] = [mailbox_id.toLowerCase(), Number(message_id)];
    const path = messagePath({ mailbox, message });
    return this.client.as(call, async (session) => {
      const response = await session.json({ method: 'GET', path });
      if (response.status >= 300) return forwarded(response);
      const draft = await response.whole();
      if (isFields(draft) && recipientsOf(draft).length === 0)
        throw fieldError('to', 'no_recipients', 'The draft has no recipients');
      const sent = await session.json({ method: 'POST', path: [...path, 'submit'], body: {} });
      if (sent.status < 300 && isFields(draft))
        await this.record(call.ctx, draft, causeOf({ mailbox, id: message }, mailbox), null);
      return forwarded(sent);
    });
  }

  /** Only logs its own failure: the request has succeeded. */
  private async record(
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
      this.logger.error({ err: error }, 'recipients could not be recorded');
    }
  }
}

/** WildDuck's own check of an address. Its library, 68 modules, is loaded by the first draft and not at the start. */
const usableAddress = lazy((require) =>
  (require('joi') as typeof Joi).string().email({ tlds: false }).max(320).required(),
);

const isQuoted = (address: unknown): boolean =>
  typeof address === 'string' && recipientOf({ address }) !== undefined && address.startsWith('"');

/** @throws ApiError 422 that names the unusable addresses */
function rejectUnusable(to: unknown): void {
  const usable = usableAddress();
  const details = (Array.isArray(to) ? (to as unknown[]) : []).flatMap((item, n): FieldProblem[] => {
    // The mail service rejects entries that are no objects. An empty address is an empty form field.
    // Addresses with a quoted local part (RFC 5321 4.1.2), which Joi does not know, are left to the mail service.
    const address = isFields(item) ? (item['address'] ?? '') : '';
    if (address === '' || isQuoted(address) || usable.validate(address).error === undefined) return [];
    const message = `${JSON.stringify(address).slice(0, 320)} is not a valid address`;
    return [{ field: `to.${n}.address`, code: 'is_email', message }];
  });
  if (details.length > 0) throw Errors.validationFailed.with({ details });
}

/** Identifies a message among all messages of a user. */
const causeOf = ({ mailbox, id }: Fields, defaultMailbox: string): string =>
  `${typeof mailbox === 'string' ? mailbox.slice(0, 24) : defaultMailbox}/${Number(id)}`.toLowerCase();
