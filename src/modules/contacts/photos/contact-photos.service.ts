import { Injectable } from '@nestjs/common';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { ANY_TAG } from '../../../platform/http/entity-tags.js';
import { imageReply } from '../../../platform/http/replies/file-reply.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { ContactPhotos } from '../contact-photos.js';
import { contactUpdate } from '../model/contact-values.js';
import {
  type BookRole,
  cardOf,
  contactJson,
  type ContactRow,
  photoOf,
  presentContact,
} from '../responses/contact.presenter.js';
import { ContactErrors, CONTACTS } from '../contacts.resource.js';
import { ContactsRepository } from '../contacts.repository.js';
import { GlobalBook } from '../global-book.js';

/** Reads and writes the photos of contacts. A write is a change of the contact: it gets a new revision. */
@Injectable()
export class ContactPhotosService {
  constructor(
    private readonly photos: ContactPhotos,
    private readonly contacts: ContactsRepository,
    private readonly access: AddressbookAccess,
    private readonly global: GlobalBook,
    private readonly db: Db,
  ) {}

  /** @param knownVersions ETags that the client has @throws ApiError 404 */
  async read(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    knownVersions: readonly string[],
  ): Promise<BodyReply> {
    const { row } = await this.access.requireContact(ctx, bookId, externalId);
    return this.reply(ctx, row, knownVersions);
  }

  /**
   * @param image undefined: removes the photo
   * @throws ApiError 404, 403, 409 `conflict`, 422 `invalid_image`
   */
  async write(
    ctx: RequestContext,
    bookId: string,
    externalId: string,
    expected: ExpectedRevision,
    image?: Buffer,
  ): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    const { row, role } = await this.access.requireEditable(ctx, bookId, externalId);
    return this.change(ctx, row, role, expected, image);
  }

  /** The photo of the caller's own card. @throws ApiError 404 */
  async readOwn(ctx: RequestContext, knownVersions: readonly string[]): Promise<BodyReply> {
    return this.reply(ctx, await this.global.ownCard(ctx), knownVersions);
  }

  /** @param image undefined: removes the photo @throws ApiError 404, 409 `conflict`, 422 `invalid_image`, `field_locked` */
  async writeOwn(
    ctx: RequestContext,
    expected: ExpectedRevision,
    image?: Buffer,
  ): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    const { locked_fields: locked } = await this.access.requireReadable(ctx, ctx.tenantId);
    if (locked.includes('photo')) throw ContactErrors.fieldLocked.with();
    return this.change(ctx, await this.global.ownCard(ctx), 'self', expected, image);
  }

  private async change(
    ctx: RequestContext,
    found: ContactRow,
    role: BookRole | 'self',
    expected: ExpectedRevision,
    image: Buffer | undefined,
  ): Promise<ReplyOf<typeof CONTACTS, 'item'>> {
    await CONTACTS.checkWrite(found, expected, null, () => contactJson(found, role));
    if (!image && found.photo_id === null) throw ContactErrors.noPhoto.with();
    const photoId = image ? await this.photos.store(ctx.tenantId, image) : null;
    const { addressbook_id: bookId, id } = found;
    return this.db.tx(async (tx) => {
      const [row] = await this.contacts.find(tx, ctx, bookId, 'id', [id]);
      if (!row) throw CONTACTS.notFound.with();
      await CONTACTS.checkWrite(row, expected, null, () => contactJson(row, role));
      if (row.photo_id === photoId) return presentContact(row, role);
      const values = contactUpdate(row, cardOf(row), [], photoId);
      const [after] = await this.contacts.update(tx, ctx, bookId, [values]);
      if (!after) throw new ConcurrentChangeError('the contact has changed');
      return presentContact(after, role);
    });
  }

  private async reply(
    ctx: RequestContext,
    row: ContactRow,
    knownVersions: readonly string[],
  ): Promise<BodyReply> {
    const photo = photoOf(row);
    if (!photo) throw ContactErrors.noPhoto.with();
    const { id, sha256 } = photo;
    const etag = `"${sha256}"`;
    if (knownVersions.some((version) => version === sha256 || version === ANY_TAG))
      return imageReply(null, 'jpeg', etag);
    const bytes = await this.photos.bytes(ctx.tenantId, id);
    if (!bytes) throw ContactErrors.noPhoto.with();
    return imageReply(bytes, 'jpeg', etag);
  }
}
