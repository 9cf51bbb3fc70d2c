import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { AddressbookAccess } from '../addressbook-access.js';
import {
  parsedPhone,
  categoryKey,
  digitsKey,
  emailKey,
  phoneKey,
  queryTerms,
} from '../../../lib/contact-card/index.js';
import { type ListContacts, phoneCountry } from '../input/contact.dto.js';
import type { ContactField } from '../contacts.entity.js';
import { type BookRole, contactJson } from '../responses/contact.presenter.js';
import { type ContactFilter, isListed, type Listed } from '../contact-lists.statements.js';
import { ContactsRepository } from '../contacts.repository.js';
import type { ListedContactsEnvelope } from '../responses/contact.response.js';

/** Lists and searches of one address book. */
@Injectable()
export class ContactListsService {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly cursors: Cursors,
  ) {}

  /** @throws ApiError 404, 422 `invalid_cursor` */
  async list(
    ctx: RequestContext,
    bookId: string,
    query: ListContacts,
  ): Promise<JsonReply<ListedContactsEnvelope>> {
    return this.page(ctx, { accessId: bookId, bookId }, query, await this.countryOf(ctx, bookId, query));
  }

  /** The address book of the workspace, for a user of any address book. @throws ApiError 404, 422 `invalid_cursor` */
  async global(
    ctx: RequestContext,
    accessId: string,
    query: ListContacts,
  ): Promise<JsonReply<ListedContactsEnvelope>> {
    await this.access.readable(ctx, accessId);
    const { default_country } = await this.access.readable(ctx, ctx.tenantId);
    return this.page(ctx, { accessId, bookId: ctx.tenantId }, query, phoneCountry(default_country));
  }

  /** The country of the number in a query; a query without a number needs none. */
  private async countryOf(ctx: RequestContext, bookId: string, query: ListContacts): Promise<string | null> {
    if (query.phone === undefined) return null;
    return phoneCountry((await this.access.readable(ctx, bookId)).default_country);
  }

  private async page(
    ctx: RequestContext,
    books: { accessId: string; bookId: string },
    query: ListContacts,
    country: string | null,
  ): Promise<JsonReply<ListedContactsEnvelope>> {
    const { sort, q, email, phone, category, kind } = query;
    const filter = filterOf(query, country);
    let role: BookRole = 'reader';
    const { rows, next } = await this.cursors.page(query, {
      scope: `contacts ${ctx.tenantId} ${ctx.userId} ${books.bookId} ${JSON.stringify([sort, q, email, phone, category, kind])}`,
      key: (row: Listed): (string | number)[] => (sort === 'name' ? [row.sort_key, row.id] : [row.seq]),
      fits: (row) => row.fits,
      rows: async (after, limit) => {
        const read = () => this.contacts.list(ctx, books, filter, sort, after, limit);
        const found = await this.access.reading(ctx, books.accessId, read);
        role =
          books.accessId === books.bookId
            ? await this.access.roleOf(ctx, found[0].role)
            : await this.access.roleOf(ctx, 'global');
        return found.filter(isListed);
      },
    });
    const fields = query.fields?.split(',') as ContactField[] | undefined;
    const contacts = rows.map((row) => contactJson(row, role, fields));
    return JsonReply.listOf('contacts', contacts, { next });
  }
}

/** The filter of a query. For an invalid address or number, which has no key, it matches no contact. */
function filterOf({ q, email, phone, category, kind }: ListContacts, country: string | null): ContactFilter {
  const prefixes = queryTerms(q ?? '');
  const keys: string[] = [];
  let number: string | null = null;
  if (email !== undefined) keys.push(emailKey(email) ?? '@');
  if (category !== undefined) keys.push(categoryKey(category));
  if (phone !== undefined) {
    const international = parsedPhone(phone, country);
    // A number without an international form is compared as a whole, by its digits.
    if (!international) number = digitsKey(phone);
    keys.push(international ? phoneKey(international.e164) : number || '+');
  }
  return { prefixes, keys, number, kind: kind ?? null };
}
