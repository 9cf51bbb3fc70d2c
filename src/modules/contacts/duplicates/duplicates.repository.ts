import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import type { ContactCard } from '../../../lib/contact-card/index.js';
import { type CardRelated, uidToUri } from '../../../lib/vcard/index.js';
import { CONTACT_COLUMNS } from '../contact-access.js';
import { ContactMerge, type ContactSource } from '../contacts.entity.js';
import type { ContactRow } from '../responses/contact.presenter.js';

/** A contact as it was before a merge. */
export interface Original {
  /** Missing in merges from before ids were recorded. */
  id?: string;
  external_id: string;
  uid: string;
  source: ContactSource;
  card: ContactCard;
  /** Missing in merges from before contacts had photos. */
  photo_id?: string | null;
  /** Missing in merges from before revisions were recorded. */
  revision?: number;
  field_revisions?: Record<string, number>;
  /** Ids of the groups that it was a member of. Missing in merges from before groups were recorded. */
  groups?: string[];
  /** Of the first contact: relations of other contacts that the merge changed. Missing in merges from before they were recorded. */
  relations?: { id: string; before: CardRelated[]; after: CardRelated[] }[];
}

// Words of one address book that several contacts have and that identify a person, or a group: name, telephone number, e-mail address. Primary key.
const shared = workspace.statement<{ word: string; ids: string[] }>(
  'contacts.shared_keys',
  `WITH keys AS (
     SELECT word, array_agg(contact_id) AS ids FROM contact_words
      WHERE tenant_id = $1 AND addressbook_id = $2 AND (word LIKE '=%' OR word LIKE '+%' OR word LIKE '%_@_%')
      GROUP BY word HAVING count(*) BETWEEN 2 AND $3 ORDER BY word LIMIT $4)
   SELECT keys.word, array_agg(contact.id ORDER BY contact.id) AS ids
     FROM keys CROSS JOIN unnest(keys.ids) AS found (id)
     JOIN contacts contact ON contact.tenant_id = $1 AND contact.id = found.id
    GROUP BY keys.word, contact.kind = 'group' HAVING count(*) > 1 ORDER BY keys.word`,
);

// A relation of vCard 4.0 has `urn:uuid:` before a uid, a member does not.
const naming = workspace.statement<ContactRow>(
  'contacts.naming',
  `SELECT ${CONTACT_COLUMNS} FROM contacts contact
    WHERE contact.tenant_id = $1 AND contact.addressbook_id = $2 AND contact.gone_at IS NULL
      AND (contact.kind = 'group' AND (contact.card->'members')::jsonb ?| $3
        OR EXISTS (SELECT FROM json_array_elements(contact.card->'related') AS related WHERE related->>'uri' = ANY ($4)))`,
);

const forget: Sweep = workspace.statement(
  'contacts.forget_merges',
  deletion('contact_merges', `created_at < now() - interval '30 days'`),
  { reach: 'cell' },
);

/** SQL of duplicates and merges. */
@Injectable()
export class DuplicatesRepository implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'forget-contact-merges', everySeconds: 86_400, deletes: forget });
  }

  /** Keys that several contacts of a book have, with the ids of the contacts. */
  async shared({ tenantId }: RequestContext, bookId: string, maxContacts: number, limit: number) {
    return this.db.query(shared, [tenantId, bookId, maxContacts, limit]);
  }

  /** The contacts of a book that name one of these uids: groups with such a member, and contacts with such a relation. */
  async naming(
    tx: Tx,
    { tenantId }: RequestContext,
    bookId: string,
    uids: readonly string[],
  ): Promise<ContactRow[]> {
    return tx.query(naming, [tenantId, bookId, uids, uids.flatMap((uid) => [uid, uidToUri(uid)])]);
  }

  /** @returns the id of the merge */
  async insert(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    merge: Pick<ContactMerge, 'addressbook_id' | 'contact_id' | 'revision'> & { originals: Original[] },
  ): Promise<string> {
    const id = uuidv7();
    const photoIds = merge.originals.flatMap(({ photo_id }) => photo_id ?? []);
    const values = {
      ...merge,
      photo_ids: photoIds,
      id,
      tenant_id: tenantId,
      user_id: userId,
      created_at: () => 'now()',
    };
    await rowsOf(tx, ContactMerge).insert(values);
    return id;
  }

  async find(reader: Reader, { tenantId, userId }: RequestContext, id: string): Promise<ContactMerge | null> {
    return rowsOf(reader, ContactMerge).one({ tenant_id: tenantId, user_id: userId, id });
  }

  async delete(tx: Tx, { tenantId, userId }: RequestContext, id: string): Promise<boolean> {
    return (await rowsOf(tx, ContactMerge).delete({ tenant_id: tenantId, user_id: userId, id })).length > 0;
  }
}
