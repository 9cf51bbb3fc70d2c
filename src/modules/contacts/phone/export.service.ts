import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { vcardText, type BookRole, contactJson, type ContactRow } from '../responses/contact.presenter.js';
import { DefaultBook } from '../default-book.js';
import { ContactPhotos } from '../contact-photos.js';
import { ExportRepository } from './export.repository.js';
import type { ExportQuery } from './phone.dto.js';

/** Characters of one piece of the response: photos make cards long. */
const PIECE_CHARACTERS = 512 * 1024;

/** Exports of address books, streamed in pages. */
@Injectable()
export class ExportService {
  constructor(
    private readonly access: AddressbookAccess,
    private readonly defaults: DefaultBook,
    private readonly contacts: ExportRepository,
    private readonly photos: ContactPhotos,
  ) {}

  /**
   * @param isJson false: vCard
   * @throws ApiError 404
   */
  async export(ctx: RequestContext, query: ExportQuery, isJson: boolean): Promise<BodyReply> {
    const book = await this.access.readable(ctx, query.addressbook_id ?? (await this.defaults.of(ctx)));
    const { since = null, device_id: deviceId = null, version, photos } = query;
    const pages = this.contacts.pages(ctx, { bookId: book.id, since, deviceId });
    if (isJson)
      return new BodyReply(Readable.from(jsonPieces(pages, book.role)), { contentType: 'application/json' });
    const text = async (row: ContactRow): Promise<string> =>
      vcardText(
        row,
        version,
        await this.photos.forCard(ctx.tenantId, photos === 'true' ? row.photo_id : null),
      );
    return new BodyReply(Readable.from(vcardPieces(pages, text)), {
      contentType: 'text/vcard; charset=utf-8',
      headers: { 'Content-Disposition': attachmentNamed('contacts.vcf', 'contacts.vcf') },
    });
  }
}

async function* vcardPieces(
  pages: AsyncIterable<ContactRow[]>,
  text: (row: ContactRow) => Promise<string>,
): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const rows of pages) {
    isEmpty = false;
    let texts: string[] = [];
    let length = 0;
    for (const row of rows) {
      const card = await text(row);
      texts.push(card);
      length += card.length;
      if (length < PIECE_CHARACTERS && row !== rows.at(-1)) continue;
      yield Buffer.from(texts.join(''));
      texts = [];
      length = 0;
    }
  }
  // Clients treat an empty response as a failed download. Readers of vCard ignore an empty line.
  if (isEmpty) yield Buffer.from('\r\n');
}

async function* jsonPieces(pages: AsyncIterable<ContactRow[]>, role: BookRole): AsyncGenerator<Buffer> {
  let separator = '{"contacts":[';
  for await (const rows of pages) {
    yield Buffer.from(separator + rows.map((row) => contactJson(row, role)).join(','));
    separator = ',';
  }
  yield Buffer.from(separator === ',' ? ']}' : `${separator}]}`);
}
