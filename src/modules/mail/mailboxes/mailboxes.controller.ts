import { Controller, Delete, Get, HttpCode, Injectable, Post, Put, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiQuery } from '@nestjs/swagger';
import { QUOTAS, formatLimit } from '../../../platform/quotas/quotas.js';
import {
  booleanOf,
  type Fields,
  isFields,
  isObjectId,
  mailboxListQuery,
  pick,
  queryHides,
} from '../input/fields.js';
import { Call, JsonObject, mailboxPath, type MailCall } from '../mail-call.js';
import { forwardReply, MailClient, type MailReply } from '../mail-client.js';
import { MailExceptionFilter } from '../mail-exception.filter.js';
import {
  CREATE_MAILBOX,
  MAIL_BODY_ERRORS,
  MailboxParam,
  MailOperation,
  UPDATE_MAILBOX,
} from '../mail.docs.js';
import { CreateMailbox, UpdateMailbox } from '../mail.dto.js';
import {
  MailErrors,
  MailMailbox,
  MailMailboxCreated,
  MailMailboxList,
  MailSuccess,
} from '../mail.response.js';
import { extendJson } from '../upstream-response.js';

const FIELDS = ['path', 'retention', 'subscribed', 'hidden'] as const;

/** True when body or query request a hidden mailbox, in any spelling of true that the mail service accepts. */
export const hides = (body: Fields, query: string): boolean => isTrue(body['hidden']) || queryHides(query);

const isTrue = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((item) => isTrue(item))
    : booleanOf(typeof value === 'string' ? value.trim() : value) === true;

/** Paths are in normalization form C (RFC 8621 2): macOS sends decomposed letters, which look the same. */
export function mailboxFields(body: Fields): Fields {
  const fields = pick(body, FIELDS);
  const { path } = fields;
  return typeof path === 'string' ? { ...fields, path: path.normalize('NFC') } : fields;
}

/** Splits a creation into the creation itself and a later update: WildDuck subscribes every new mailbox. */
export function newMailbox(body: Fields): { fields: Fields; update: Fields | null } {
  const { subscribed, ...fields } = mailboxFields(body);
  const wanted = booleanOf(subscribed);
  if (subscribed === undefined || wanted === true) return { fields, update: null };
  // Invalid values are forwarded with the creation, for the mail service to reject.
  return wanted === false
    ? { fields, update: { subscribed: false } }
    : { fields: { ...fields, subscribed }, update: null };
}

/** Codes of a rejected renaming. */
const RENAMING_ERRORS: ReadonlySet<unknown> = new Set(['MailboxExistsError', 'DisallowedMailboxMethod']);

/** The mailbox routes: translates the fields and forwards the response. */
@Injectable()
export class MailboxesService {
  constructor(private readonly client: MailClient) {}

  list(call: MailCall): Promise<MailReply> {
    const query = mailboxListQuery(call.target.query);
    return this.client.runAs(call, async (session) => {
      const response = await session.json({ method: 'GET', path: ['mailboxes'], query });
      const { results, total } = isFields(response.value) ? response.value : {};
      if (response.status >= 300 || !Array.isArray(results) || total !== undefined)
        return forwardReply(response);
      // WildDuck returns all mailboxes without these members of the contract.
      return forwardReply(
        extendJson(response, { total: results.length, nextCursor: false, previousCursor: false }),
      );
    });
  }

  /**
   * @returns the response to the creation, or the error response to the update after it
   * @throws ApiError 422 `hidden_mailbox_not_allowed`
   */
  create(call: MailCall, body: Fields): Promise<MailReply> {
    rejectHidden(call, body);
    const { fields, update } = newMailbox(body);
    return this.client.runAs(call, async (session) => {
      const created = await session.json({ method: 'POST', path: ['mailboxes'], body: fields });
      const { id, path } = isFields(created.value) ? created.value : {};
      if (created.status >= 300 || !isObjectId(id)) return forwardReply(created);
      // WildDuck returns the id only.
      const complete = path === undefined ? extendJson(created, describedBy(mailboxFields(body))) : created;
      if (update === null) return forwardReply(complete);
      const updated = await session.json({ method: 'PUT', path: mailboxPath(id), body: update });
      return forwardReply(updated.status < 300 ? complete : updated);
    });
  }

  read(call: MailCall): Promise<MailReply> {
    return this.client.forward(call, { method: 'GET', path: mailboxPath(call.target.mailbox) });
  }

  /**
   * Changes a mailbox. One that is sent back with its own path, which the mail service may reject as a renaming, gets the other
   * changes.
   * @throws ApiError 422 `hidden_mailbox_not_allowed`
   */
  update(call: MailCall, body: Fields): Promise<MailReply> {
    rejectHidden(call, body);
    const path = mailboxPath(call.target.mailbox);
    const fields = mailboxFields(body);
    return this.client.runAs(call, async (session) => {
      const response = await session.json({ method: 'PUT', path, body: fields });
      const { path: wanted, ...others } = fields;
      if (!RENAMING_ERRORS.has(response.code) || Object.keys(others).length === 0)
        return forwardReply(response);
      const { value } = await session.json({ method: 'GET', path });
      if (!isFields(value) || value['path'] !== wanted) return forwardReply(response);
      return forwardReply(await session.json({ method: 'PUT', path, body: others }));
    });
  }

  delete(call: MailCall): Promise<MailReply> {
    return this.client.forward(call, { method: 'DELETE', path: mailboxPath(call.target.mailbox) });
  }
}

/** The new mailbox as the request describes it. */
function describedBy(body: Fields): Fields {
  const path = String(body['path']).replace(/^\//, '');
  const { retention, subscribed } = body;
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    subscribed: booleanOf(subscribed) ?? true,
    ...(typeof retention === 'number' && { retention }),
  };
}

function rejectHidden({ target }: MailCall, body: Fields): void {
  if (hides(body, target.query)) throw MailErrors.hiddenNotAllowed.with();
}

/** The mailboxes of the caller's own mail account. */
@UseFilters(MailExceptionFilter)
@Controller('mail/users/me/mailboxes')
export class MailboxesController {
  constructor(private readonly mailboxes: MailboxesService) {}

  @MailOperation({
    id: 'listMailboxes',
    summary: 'List your mailboxes',
    description:
      'Other operations need the mailbox ids of this list; `specialUse` marks drafts, sent mail, junk and trash. Further query parameters are forwarded to the mail service.',
  })
  @ApiQuery({
    name: 'counters',
    required: false,
    type: Boolean,
    description: 'Include `total` and `unseen`.',
  })
  @ApiOkResponse({ type: MailMailboxList, description: 'All mailboxes.' })
  @Get()
  list(@Call() call: MailCall): Promise<MailReply> {
    return this.mailboxes.list(call);
  }

  @MailOperation({
    id: 'createMailbox',
    summary: 'Create a mailbox',
    description: `A user has at most ${formatLimit(QUOTAS.user.mailboxes)} mailboxes (400 \`CANNOT\`).`,
    errors: [MailErrors.hiddenNotAllowed, ...MAIL_BODY_ERRORS],
  })
  @ApiBody({ type: CreateMailbox, examples: CREATE_MAILBOX })
  @ApiOkResponse({ type: MailMailboxCreated, description: 'The new mailbox, or its id.' })
  @HttpCode(200)
  @Post()
  create(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.mailboxes.create(call, body);
  }

  @MailOperation({ id: 'readMailbox', summary: 'Read a mailbox' })
  @MailboxParam()
  @ApiOkResponse({ type: MailMailbox, description: 'The mailbox with its counters.' })
  @Get(':mailbox')
  read(@Call() call: MailCall): Promise<MailReply> {
    return this.mailboxes.read(call);
  }

  @MailOperation({
    id: 'updateMailbox',
    summary: 'Rename or change a mailbox',
    errors: [MailErrors.hiddenNotAllowed, ...MAIL_BODY_ERRORS],
  })
  @MailboxParam()
  @ApiBody({ type: UpdateMailbox, examples: UPDATE_MAILBOX })
  @ApiOkResponse({ type: MailSuccess, description: 'The mailbox was changed.' })
  @Put(':mailbox')
  update(@Call() call: MailCall, @JsonObject() body: Fields): Promise<MailReply> {
    return this.mailboxes.update(call, body);
  }

  @MailOperation({
    id: 'deleteMailbox',
    summary: 'Delete a mailbox with its messages',
    description:
      'A mailbox with other mailboxes below it is not deleted (400 `MailboxHasChildrenError`): delete or move these first.',
  })
  @MailboxParam()
  @ApiOkResponse({ type: MailSuccess, description: 'The mailbox was deleted.' })
  @Delete(':mailbox')
  delete(@Call() call: MailCall): Promise<MailReply> {
    return this.mailboxes.delete(call);
  }
}
