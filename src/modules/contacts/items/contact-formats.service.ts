import { Injectable } from '@nestjs/common';
import { type CardPhoto, type CardVersion, toJsContact } from '../../../lib/vcard/index.js';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';
import { ContactPhotos } from '../contact-photos.js';
import { vcardOf, vcardText, type ContactRow, shown } from '../responses/contact.presenter.js';
import { CONTACTS } from '../contacts.resource.js';

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
    const { row, role } = await this.access.found(ctx, bookId, externalId);
    const [first = ''] = accept.toLowerCase().split(',');
    const [type = '', ...params] = first.split(';').map((part) => part.trim());
    if (!(CARD_TYPES as readonly string[]).includes(type)) return shown(row, role);
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
