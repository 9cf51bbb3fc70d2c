import { Injectable } from '@nestjs/common';
import { queryTerms } from '../../../lib/contact-card/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import {
  type RelatedItem,
  RelatedItems,
  type RelatedQuery,
} from '../../../platform/references/related-items.js';
import { photoUrl } from '../responses/contact.presenter.js';
import { ContactSearchRepository, type FoundContact as FoundRow } from './contact-search.repository.js';

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
