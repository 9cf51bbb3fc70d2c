import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import {
  type EventFacts,
  FACTS,
  type FoundSubject,
  PublicEvents,
  publicEvents,
} from '../../../platform/events/public-events.js';
import { type AccessedRow, BOOK_ACCESS, CONTACT_COLUMNS } from '../contact-access.js';
import { type BookRole, contactJson } from '../responses/contact.presenter.js';
import { ContactResponse } from '../responses/contact.response.js';
import type { Addressbook } from '../contacts.entity.js';

// No row: the member does not see the address book; one without id: it has none of the contacts. Books of members only.
const read = workspace.statement<AccessedRow & { role: BookRole }>(
  'contacts.read_for_events',
  `SELECT access.role, access.default_country, ${CONTACT_COLUMNS}
     FROM ${BOOK_ACCESS} access
     LEFT JOIN contacts contact ON contact.tenant_id = $1 AND contact.addressbook_id = $3 AND contact.id = ANY ($4)
      AND contact.gone_at IS NULL
    WHERE access.kind <> 'global'`,
);

const book = workspace.statement<Pick<Addressbook, 'id'>>(
  'contacts.filters_events',
  `SELECT access.id FROM ${BOOK_ACCESS} access WHERE access.kind <> 'global'`,
);

/** Appended by the functions that write contacts, in workspaces with an interest in them only (`EventInterests`). */
const CONTACT_EVENTS = publicEvents(
  {
    kind: 'contact',
    object: ContactResponse,
    facts: {
      contact_id: FACTS.id,
      addressbook_id: FACTS.id,
      external_id: { type: 'string', example: 'phone-17' },
      revision: FACTS.revision,
    },
    filters: ['addressbook_id'],
    isFrequent: true,
  },
  {
    'contact.created':
      'A contact was added to an address book, also by an import. `contact` is null if it was deleted meanwhile.',
    'contact.updated': 'Fields of a contact, or its photo, changed.',
    'contact.deleted':
      'A contact was deleted from an address book. `contact` is null. A move to another book is a deletion and a creation.',
  },
);

/** The events of contacts that programs of others receive: those of address books that the member sees. */
@Injectable()
export class ContactPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.events.registerFilter(
      'addressbook_id',
      async ({ tenantId, userId }, id) => (await this.db.query(book, [tenantId, userId, id])).length > 0,
    );
    this.events.register(CONTACT_EVENTS, { many: (ctx, facts) => this.readMany(ctx, facts) });
  }

  private async readMany(
    { tenantId, userId }: RequestContext,
    facts: readonly EventFacts[],
  ): Promise<FoundSubject[]> {
    const found = new Map<EventFacts, FoundSubject>();
    for (const [bookId, some] of Map.groupBy(facts, (each) => each['addressbook_id'])) {
      const ids = some.map((each) => each['contact_id']);
      const rows = await this.db.query(read, [tenantId, userId, bookId, ids]);
      if (rows.length === 0) continue;
      const texts = new Map(rows.map((row) => [row.id, row.id === null ? null : contactJson(row, row.role)]));
      for (const each of some) found.set(each, texts.get(each['contact_id'] as string) ?? null);
    }
    return facts.map((each) => found.get(each));
  }
}
