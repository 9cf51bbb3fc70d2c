import { Injectable } from '@nestjs/common';
import { prefixRange, queryTerms } from '../../../lib/contact-card/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import {
  type RelatedItem,
  RelatedItems,
  type RelatedQuery,
} from '../../../platform/references/related-items.js';
import { VISIBLE_BOOKS } from '../contact-access.js';
import type { Contact } from '../contacts.entity.js';
import { photoUrl } from '../responses/contact.presenter.js';

/** A contact that a search of all address books found. */
export interface FoundRow extends Pick<Contact, 'id' | 'addressbook_id' | 'external_id' | 'photo_id'> {
  name: string;
  email: string | null;
}

// $3 to $4 the range of the longest term, $5 all terms. Cards of members are excluded: the directory finds the members themselves.
const search = workspace.statement<FoundRow>(
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
  ): Promise<FoundRow[]> {
    return this.db.query(search, [tenantId, userId, ...prefixRange(terms), terms, limit]);
  }

  /** Photos of members, whose cards are in the address book of the workspace. */
  async memberPhotos({ tenantId }: RequestContext, userIds: readonly string[]) {
    return userIds.length === 0 ? [] : this.db.query(memberPhotos, [tenantId, userIds]);
  }
}

/** A contact that a search found. */
export interface FoundContact extends Omit<FoundRow, 'photo_id'> {
  /** Path of the photo. */
  photo_url: string | null;
}

/** Contacts for other modules. */
@Injectable()
export class ContactsApi {
  constructor(
    private readonly contacts: ContactSearchRepository,
    related: RelatedItems,
  ) {
    related.register('contacts', (ctx, query) => this.related(ctx, query));
  }

  /** Contacts in all address books that the caller sees, by name. Members of the workspace are not among them. */
  async search(ctx: RequestContext, query: string, limit: number): Promise<FoundContact[]> {
    const terms = queryTerms(query);
    const rows = terms.length === 0 ? [] : await this.contacts.search(ctx, terms, limit);
    return rows.map(({ photo_id, ...row }) => ({ ...row, photo_url: photoUrl({ ...row, photo_id }) }));
  }

  /** The contacts with these addresses, then those with the words of the subject. */
  private async related(ctx: RequestContext, { emails, texts, limit }: RelatedQuery): Promise<RelatedItem[]> {
    const found: RelatedItem[] = [];
    for (const email of emails)
      for (const { id, name } of await this.search(ctx, email, limit))
        found.push({ id, title: name, reason: 'attendee', score: 0.9, date: null });
    const [text = ''] = texts;
    for (const { id, name } of await this.search(ctx, text, limit))
      found.push({ id, title: name, reason: 'title', score: 0.5, date: null });
    return found;
  }

  /** Paths of the photos of members, by user id. Members without a photo are missing. */
  async photosOf(ctx: RequestContext, userIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.contacts.memberPhotos(ctx, userIds);
    return new Map(
      rows.flatMap(({ user_id, ...row }) => {
        const url = photoUrl({ ...row, addressbook_id: ctx.tenantId });
        return url === null ? [] : [[user_id, url] as const];
      }),
    );
  }
}
