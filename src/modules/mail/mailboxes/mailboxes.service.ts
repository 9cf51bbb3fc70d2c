import { Injectable } from '@nestjs/common';
import { booleanOf, type Fields, isFields, isObjectId } from '../input/fields.js';
import { type MailCall, mailboxPath } from '../mail-call.js';
import { forwarded, MailClient, type MailReply } from '../mail-client.js';
import { MailErrors } from '../mail.errors.js';
import { mailboxListQuery } from '../input/query.js';
import { extended } from '../upstream-response.js';
import { hides, mailboxFields, newMailbox } from './mailbox-fields.js';

/** Codes of a rejected renaming. */
const RENAMING_ERRORS: ReadonlySet<unknown> = new Set(['MailboxExistsError', 'DisallowedMailboxMethod']);

/** The mailbox routes: translates the fields and forwards the response. */
@Injectable()
export class MailboxesService {
  constructor(private readonly client: MailClient) {}

  list(call: MailCall): Promise<MailReply> {
    const query = mailboxListQuery(call.target.query);
    return this.client.as(call, async (session) => {
      const response = await session.json({ method: 'GET', path: ['mailboxes'], query });
      const { results, total } = isFields(response.value) ? response.value : {};
      if (response.status >= 300 || !Array.isArray(results) || total !== undefined)
        return forwarded(response);
      // WildDuck returns all mailboxes without these members of the contract.
      return forwarded(
        extended(response, { total: results.length, nextCursor: false, previousCursor: false }),
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
    return this.client.as(call, async (session) => {
      const created = await session.json({ method: 'POST', path: ['mailboxes'], body: fields });
      const { id, path } = isFields(created.value) ? created.value : {};
      if (created.status >= 300 || !isObjectId(id)) return forwarded(created);
      // WildDuck returns the id only.
      const complete = path === undefined ? extended(created, describedBy(mailboxFields(body))) : created;
      if (update === null) return forwarded(complete);
      const updated = await session.json({ method: 'PUT', path: mailboxPath(id), body: update });
      return forwarded(updated.status < 300 ? complete : updated);
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
    return this.client.as(call, async (session) => {
      const response = await session.json({ method: 'PUT', path, body: fields });
      const { path: wanted, ...others } = fields;
      if (!RENAMING_ERRORS.has(response.code) || Object.keys(others).length === 0) return forwarded(response);
      const { value } = await session.json({ method: 'GET', path });
      if (!isFields(value) || value['path'] !== wanted) return forwarded(response);
      return forwarded(await session.json({ method: 'PUT', path, body: others }));
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
