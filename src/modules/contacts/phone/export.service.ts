import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { fitsPage } from '../../../platform/bounded-pages/page-bytes.js';
import type { MemberKey, RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../../platform/http/replies/file-reply.js';
import { AddressbookAccess, DefaultBook } from '../addressbook-access.js';
import { CONTACT_COLUMNS } from '../contact-access.js';
import { ContactPhotos } from '../contact-photos.js';
import { type BookRole, contactJson, type ContactRow, vcardText } from '../responses/contact.presenter.js';
import type { ExportQuery } from './phone.dto.js';

export interface ExportFilter {
  bookId: string;
  /** Contacts that changed earlier are left out. */
  since: Date | null;
  /** Contacts whose last change came from this device are left out. */
  deviceId: string | null;
}

// $7 contacts, $8 bytes. The feed of the address book is an index on (tenant_id, addressbook_id, seq); an export reads it in that order.
const page = workspace.statement<ContactRow & { seq: string }>(
  'contacts.export',
  `SELECT contact.seq::text AS seq, ${CONTACT_COLUMNS} FROM (
     SELECT listed.*, ${fitsPage('listed.size', '$7', '$8')} AS fits FROM (
       SELECT contact.* FROM contacts contact
        WHERE contact.tenant_id = $1 AND contact.addressbook_id = $2 AND contact.seq > $3 AND contact.gone_at IS NULL
          AND ($4::timestamptz IS NULL OR contact.updated_at >= $4)
          AND ($5::text IS NULL OR NOT EXISTS (
            SELECT FROM contact_import_items item
              JOIN contact_imports import ON import.tenant_id = item.tenant_id AND import.id = item.import_id
             WHERE item.tenant_id = $1 AND item.contact_id = contact.id AND item.revision = contact.revision
               AND import.user_id = $6 AND import.device_id = $5))
        ORDER BY contact.seq LIMIT $7) listed
      WINDOW page_order AS (ORDER BY listed.seq ROWS UNBOUNDED PRECEDING)) contact
    WHERE contact.fits ORDER BY contact.seq`,
  { onReplica: true },
);

/** Contacts and bytes of one page in memory. */
const PAGE = 250;
const BYTES = 1024 * 1024;

/** SQL of exports. */
@Injectable()
export class ExportRepository {
  constructor(private readonly db: Db) {}

  /** The contacts of an address book in pages. A contact that changes meanwhile may be in two pages. */
  async *pages({ tenantId, userId }: MemberKey, filter: ExportFilter): AsyncGenerator<ContactRow[]> {
    const { bookId, since, deviceId } = filter;
    for (let after = '0'; ;) {
      const rows = await this.db.query(page, [tenantId, bookId, after, since, deviceId, userId, PAGE, BYTES]);
      if (rows.length === 0) return;
      yield rows;
      after = rows.at(-1)?.seq ?? after;
    }
  }
}

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
    const book = await this.access.requireReadable(
      ctx,
      query.addressbook_id ?? (await this.defaults.idOf(ctx)),
    );
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
