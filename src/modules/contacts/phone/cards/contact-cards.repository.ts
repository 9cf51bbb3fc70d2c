import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Contact } from '../../contacts.entity.js';

/** A contact without its content. */
export type ContactName = Pick<Contact, 'id' | 'external_id' | 'revision' | 'sort_key'>;

// Index contacts_by_name.
const readNames = workspace.statement<ContactName>(
  'contacts.card_names',
  `SELECT id, external_id, revision, sort_key FROM contacts
    WHERE tenant_id = $1 AND addressbook_id = $2 AND gone_at IS NULL
      AND ($3::text IS NULL OR (sort_key, id) > ($3, $4::uuid))
    ORDER BY sort_key, id LIMIT $5`,
);

/** The names of the contacts of an address book. The caller has checked the access. */
@Injectable()
export class ContactCardsRepository {
  constructor(private readonly db: Db) {}

  /** A page of names. @param after the last contact of the page before */
  async names(
    tenantId: string,
    bookId: string,
    after: ContactName | null,
    limit: number,
  ): Promise<ContactName[]> {
    return this.db.query(readNames, [tenantId, bookId, after?.sort_key ?? null, after?.id ?? null, limit]);
  }
}
