import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ContactSearchRepository, type FoundContact } from './contact-search.repository.js';
import { queryTerms } from '../../../lib/contact-card/index.js';

export type { FoundContact };

/** Contacts for other modules. */
@Injectable()
export class ContactsApi {
  constructor(private readonly contacts: ContactSearchRepository) {}

  /** Contacts in all address books that the caller sees, by name. Members of the workspace are not among them. */
  async search(ctx: RequestContext, query: string, limit: number): Promise<FoundContact[]> {
    const terms = queryTerms(query);
    return terms.length === 0 ? [] : this.contacts.search(ctx, terms, limit);
  }
}
