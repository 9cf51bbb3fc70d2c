import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { prefixRange } from '../../../lib/contact-card/index.js';
import { VISIBLE_BOOKS } from '../contact-access.js';
import type { Contact } from '../contacts.entity.js';

/** A contact that a search of all address books found. */
export interface FoundContact extends Pick<Contact, 'id' | 'addressbook_id' | 'external_id' | 'photo_id'> {
  name: string;
  email: string | null;
}

// $3 to $4 the range of the longest term, $5 all terms. Cards of members are excluded: the directory finds the members themselves.
const search = workspace.statement<FoundContact>(
  'contacts.search',
  `SELECT contact.id, contact.addressbook_id, contact.external_id, contact.card->>'full_name' AS name,
          contact.card->'emails'->0->>'value' AS email, contact.photo_id
     FROM contacts contact
    WHERE contact.tenant_id = $1 AND contact.linked_user_id IS NULL
      AND contact.id IN (SELECT listed.contact_id FROM ${VISIBLE_BOOKS} AS book
                           JOIN contact_words listed ON listed.tenant_id = $1 AND listed.addressbook_id = book.id
                            AND listed.word >= $3 AND listed.word < $4)
      AND NOT EXISTS (SELECT FROM unnest($5::text[]) AS prefix
                       WHERE NOT EXISTS (SELECT FROM unnest(contact.words) AS word WHERE starts_with(word, prefix)))
    ORDER BY contact.sort_key, contact.id LIMIT $6`,
  { onReplica: true },
);

const memberPhotos = workspace.statement<{ user_id: string; external_id: string; photo_id: string }>(
  'contacts.member_photos',
  `SELECT contact.linked_user_id AS user_id, contact.external_id, contact.photo_id FROM contacts contact
    WHERE contact.tenant_id = $1 AND contact.linked_user_id = ANY ($2) AND contact.gone_at IS NULL AND contact.photo_id IS NOT NULL`,
);

/** Search in all address books that a caller sees. */
@Injectable()
export class ContactSearchRepository {
  constructor(private readonly db: Db) {}

  /** @param terms from `queryTerms`, at least one */
  async search(
    { tenantId, userId }: RequestContext,
    terms: readonly string[],
    limit: number,
  ): Promise<FoundContact[]> {
    return this.db.query(search, [tenantId, userId, ...prefixRange(terms), terms, limit]);
  }

  /** Photos of members, whose cards are in the address book of the workspace. */
  async memberPhotos({ tenantId }: RequestContext, userIds: readonly string[]) {
    return userIds.length === 0 ? [] : this.db.query(memberPhotos, [tenantId, userIds]);
  }
}
