import { Injectable } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { fitsPage } from '../../../platform/bounded-pages/page-bytes.js';
import type { ContactRow } from '../responses/contact.presenter.js';
import { CONTACT_COLUMNS } from '../contact-access.js';

export interface ExportFilter {
  bookId: string;
  /** Only contacts that changed at this time or later. */
  since: Date | null;
  /** Without the contacts whose last change came from this device. */
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
