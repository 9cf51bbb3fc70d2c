import { Body, Controller, Get, HttpCode, Injectable, Logger, Post, Query, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import type { default as Joi } from 'joi';
import { lazy } from '../../../../lib/lazy/index.js';
import { WithoutTenant } from '../../../../platform/context/access.decorators.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { Db } from '../../../../platform/database/db.js';
import { ApiFile, STORED_FILE_TYPES } from '../../../../platform/http/api-docs.js';
import { BodyLimit } from '../../../../platform/http/body/body-limits.js';
import { Errors, fieldError, type FieldProblem } from '../../../../platform/http/errors.js';
import { JsonReply } from '../../../../platform/http/json-reply.js';
import { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { attachmentNamed, safeFileName } from '../../../../platform/http/replies/file-reply.js';
import { type Fields, isFields } from '../../input/fields.js';
import { Call, JsonObject, type MailCall, messagePath } from '../../mail-call.js';
import { forwardReply, MailClient, type MailReply, type MailSession } from '../../mail-client.js';
import { MailExceptionFilter } from '../../mail-exception.filter.js';
import {
  CREATE_DRAFT,
  MAIL_BODY_ERRORS,
  MailOperation,
  MESSAGE_LIMIT,
  SUBMIT_DRAFT,
} from '../../mail.docs.js';
import { NewDraft } from '../../mail.dto.js';
import { MailDraft, MailErrors, MailSubmission } from '../../mail.response.js';
import { JsonResponse } from '../../upstream-response.js';
import { messageFields, MessageWriter } from '../message-writer.js';
import { DraftMailbox, ReadAttachment, SubmitDraft } from './drafts.dto.js';
import { recipientOf, recipientsOf, RecipientsRepository } from './recipients.js';

const DEFAULT_NAME = 'attachment';
const DEFAULT_TYPE = 'application/octet-stream';

/**
 * Media types that a browser executes or renders as a page are replaced by the default type. XML types are `text/xml`,
 * `application/xml` and `…+xml`: `vnd.openxmlformats-officedocument…` is a document.
 */
const ACTIVE = /(?:^|[/+.-])(?:x?html?|xml|svg|mhtml|xslt?)(?![a-z])|script|flash|wasm|multipart|message/i;

/** Downloads of attachments. */
@Injectable()
export class AttachmentsService {
  constructor(private readonly client: MailClient) {}

  read(
    call: MailCall,
    { mailbox_id, message_id, attachment_id, filename }: ReadAttachment,
  ): Promise<MailReply> {
    const message = messagePath({ mailbox: mailbox_id.toLowerCase(), message: Number(message_id) });
    const path = [...message, 'attachments', attachment_id.toUpperCase()];
    const download = async (session: MailSession): Promise<MailReply> => {
      const response = await session.bytes({ method: 'GET', path, accept: '*/*' });
      if (response instanceof JsonResponse) return forwardReply(response);
      const { headers, body } = response;
      const name = safeFileName(filename, '', DEFAULT_NAME);
      const length = headers['content-length'];
      return new BodyReply(body.stream(), {
        status: 200,
        contentType: safeType(headers['content-type']),
        ...(length !== undefined && /^\d{1,15}$/.test(length) && { length: Number(length) }),
        headers: {
          'Content-Disposition': attachmentNamed(name, DEFAULT_NAME),
          'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        },
      });
    };
    return this.client.runAs(call, download, 'downloads');
  }
}

/** The declared media type without parameters when it is valid and harmless. */
function safeType(declared: string | undefined): string {
  const type = (declared ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9][\w.+-]{0,63}\/[a-z0-9][\w.+-]{0,126}$/.test(type) && !ACTIVE.test(type)
    ? type
    : DEFAULT_TYPE;
}

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
    return this.client.runAs(call, async (session) => {
      const response = await this.writer.create(session, mailbox, fields);
      if (response.status >= 300) return forwardReply(response);
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
    return this.client.runAs(call, async (session) => {
      const response = await session.json({ method: 'GET', path });
      if (response.status >= 300) return forwardReply(response);
      const draft = await response.readWhole();
      if (isFields(draft) && recipientsOf(draft).length === 0)
        throw fieldError('to', 'no_recipients', 'The draft has no recipients');
      const sent = await session.json({ method: 'POST', path: [...path, 'submit'], body: {} });
      if (sent.status < 300 && isFields(draft))
        await this.record(call.ctx, draft, causeOf({ mailbox, id: message }, mailbox), null);
      return forwardReply(sent);
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

/** The convenience routes: they do not exist at the mail service. */
@UseFilters(MailExceptionFilter)
@Controller('mail')
export class DraftsController {
  constructor(
    private readonly drafts: DraftsService,
    private readonly attachments: AttachmentsService,
  ) {}

  @MailOperation({
    id: 'createDraft',
    summary: 'Create a message and record its recipients',
    description:
      '`mailbox` is the id of your mailbox *Drafts*, from `GET /mail/users/me/mailboxes`. The message is stored as a draft unless `draft` is false; only drafts can be submitted. Recipients are recorded for autocomplete. Up to 40 MiB of JSON.',
    errors: [MailErrors.tenantRequired, ...MAIL_BODY_ERRORS],
  })
  @ApiBody({ type: NewDraft, examples: CREATE_DRAFT })
  @ApiOkResponse({ type: MailDraft, description: 'The message is stored.' })
  @WithoutTenant(MailErrors.tenantRequired)
  @BodyLimit(MESSAGE_LIMIT)
  @HttpCode(200)
  @Post('draft')
  create(
    @Call() call: MailCall,
    @JsonObject() body: Fields,
    @Body() { mailbox }: DraftMailbox,
  ): Promise<MailReply> {
    return this.drafts.create(call, mailbox.toLowerCase(), body);
  }

  @MailOperation({
    id: 'submitDraft',
    summary: 'Send a draft and record its recipients',
    errors: MAIL_BODY_ERRORS,
  })
  @ApiBody({ type: SubmitDraft, examples: SUBMIT_DRAFT })
  @ApiOkResponse({ type: MailSubmission, description: 'The message is queued for delivery.' })
  @HttpCode(200)
  @Post('draft/submit')
  submit(@Call() call: MailCall, @JsonObject() _: Fields, @Body() body: SubmitDraft): Promise<MailReply> {
    return this.drafts.submit(call, body);
  }

  @MailOperation({
    id: 'readMailAttachment',
    summary: 'Download an attachment',
    errors: [Errors.validationFailed],
  })
  @ApiFile(STORED_FILE_TYPES, 'The content, under the declared media type where that is harmless.')
  @Get('attachment')
  attachment(@Call() call: MailCall, @Query() query: ReadAttachment): Promise<MailReply> {
    return this.attachments.read(call, query);
  }
}
