import { Injectable } from '@nestjs/common';
import {
  categoryKey,
  digitsKey,
  emailKey,
  parsedPhone,
  phoneKey,
  queryTerms,
} from '../../../lib/contact-card/index.js';
import { type CardPhoto, type CardVersion, toJsContact } from '../../../lib/vcard/index.js';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { ContactPhotos } from '../contact-photos.js';
import type { ContactField } from '../contacts.entity.js';
import { type ContactFilter, ContactsRepository, isListed, type Listed } from '../contacts.repository.js';
import { CONTACTS } from '../contacts.resource.js';
import { type ListContacts, phoneCountry } from '../input/contact.dto.js';
import {
  type BookRole,
  contactJson,
  type ContactRow,
  presentContact,
  vcardOf,
  vcardText,
} from '../responses/contact.presenter.js';
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
  async listGlobal(
    ctx: RequestContext,
    accessId: string,
    query: ListContacts,
  ): Promise<JsonReply<ListedContactsEnvelope>> {
    await this.access.requireReadable(ctx, accessId);
    const { default_country } = await this.access.requireReadable(ctx, ctx.tenantId);
    return this.page(ctx, { accessId, bookId: ctx.tenantId }, query, phoneCountry(default_country));
  }

  /** The country of the number in a query; a query without a number needs none. */
  private async countryOf(ctx: RequestContext, bookId: string, query: ListContacts): Promise<string | null> {
    if (query.phone === undefined) return null;
    return phoneCountry((await this.access.requireReadable(ctx, bookId)).default_country);
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

const CARD_TYPES = ['text/vcard', 'application/jscontact+json'] as const;

/** Reads a contact in the representation that the client accepts. */
@Injectable()
export class ContactFormatsService {
  constructor(
    private readonly access: AddressbookAccess,
    private readonly photos: ContactPhotos,
  ) {}

  /** @param accept the header; JSON unless it starts with the type of another representation @throws ApiError 404 */
  async read(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    accept = '',
  ): Promise<ReplyOf<typeof CONTACTS, 'item'> | BodyReply> {
    const { row, role } = await this.access.requireContact(ctx, bookId, externalId);
    const [first = ''] = accept.toLowerCase().split(',');
    const [type = '', ...params] = first.split(';').map((part) => part.trim());
    if (!(CARD_TYPES as readonly string[]).includes(type)) return presentContact(row, role);
    const photo = await this.photos.forCard(ctx.tenantId, row.photo_id);
    if (type === 'application/jscontact+json') return jsContactReply(row, photo);
    return vcardReply(row, params.includes('version=4.0') ? '4.0' : '3.0', photo);
  }
}

const headersOf = ({ id, revision }: ContactRow): Record<string, string> => ({
  ETag: revisionTag(CONTACTS.kind, id, revision),
  Vary: 'Accept',
});

function vcardReply(row: ContactRow, version: CardVersion, photo: CardPhoto | null): BodyReply {
  const name = 'contact.vcf';
  return new BodyReply(Buffer.from(vcardText(row, version, photo)), {
    contentType: `text/vcard; version=${version}; charset=utf-8`,
    headers: { ...headersOf(row), 'Content-Disposition': attachmentNamed(name, name) },
  });
}

function jsContactReply(row: ContactRow, photo: CardPhoto | null): BodyReply {
  const card = toJsContact({ ...vcardOf(row, photo), uid: row.uid }, row.updated_at);
  return new BodyReply(Buffer.from(JSON.stringify(card)), {
    contentType: 'application/jscontact+json; version=1.0',
    headers: headersOf(row),
  });
}
