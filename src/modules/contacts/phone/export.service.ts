import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';
import { AddressbookAccess } from '../addressbook-access.js';
import { vcardText, type BookRole, contactJson, type ContactRow } from '../contact.presenter.js';
import { DefaultBook } from '../default-book.js';
import { ExportRepository } from './export.repository.js';
import type { ExportQuery } from './phone.dto.js';

/** Exports of address books, streamed in pages. */
@Injectable()
export class ExportService {
  constructor(
    private readonly access: AddressbookAccess,
    private readonly defaults: DefaultBook,
    private readonly contacts: ExportRepository,
  ) {}

  /**
   * @param isJson false: vCard
   * @throws ApiError 404
   */
  async export(ctx: RequestContext, query: ExportQuery, isJson: boolean): Promise<BodyReply> {
    const book = await this.access.readable(ctx, query.addressbook_id ?? (await this.defaults.of(ctx)));
    const { since = null, device_id: deviceId = null, version } = query;
    const pages = this.contacts.pages(ctx, { bookId: book.id, since, deviceId });
    if (isJson)
      return new BodyReply(Readable.from(jsonPieces(pages, book.role)), { contentType: 'application/json' });
    const text = (row: ContactRow): string => vcardText(row, version);
    return new BodyReply(Readable.from(vcardPieces(pages, text)), {
      contentType: 'text/vcard; charset=utf-8',
      headers: { 'Content-Disposition': attachmentNamed('contacts.vcf', 'contacts.vcf') },
    });
  }
}

async function* vcardPieces(
  pages: AsyncIterable<ContactRow[]>,
  text: (row: ContactRow) => string,
): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const rows of pages) {
    yield Buffer.from(rows.map(text).join(''));
    isEmpty = false;
  }
  // Clients take a response without a body for a failed download; readers of vCard skip an empty line.
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
