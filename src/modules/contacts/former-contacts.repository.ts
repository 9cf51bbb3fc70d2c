import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { CONTACT_COLUMNS } from './contact-access.js';
import type { ContactRow } from './responses/contact.presenter.js';

// Items of imports that are not about the revision follow too: they have the hash of the last card of the device.
// Primary key of contact_merges begins with the workspace; an address book has few merges within 30 days.
const follow = workspace.statement(
  'contacts.follow_restored',
  `WITH restored AS (
          SELECT after.old_id, after.old_revision, after.id, after.revision
            FROM unnest($3::uuid[], $4::int[], $5::uuid[], $6::int[]) AS after (old_id, old_revision, id, revision)),
        items AS (
          UPDATE contact_import_items AS item
             SET contact_id = after.id,
                 revision = CASE item.revision WHEN after.old_revision THEN after.revision ELSE item.revision END
            FROM restored after WHERE item.tenant_id = $1 AND item.contact_id = after.old_id)
   UPDATE contact_merges AS merge SET contact_id = after.id, revision = after.revision
     FROM restored after
    WHERE merge.tenant_id = $1 AND merge.addressbook_id = $2
      AND merge.contact_id = after.old_id AND merge.revision = after.old_revision`,
);

// A contact is found also after several merges.
const remaining = workspace.statement<ContactRow & { former_uid: string; former_id: string }>(
  'contacts.remaining_of_merges',
  `WITH RECURSIVE former AS MATERIALIZED (
          SELECT merge.contact_id, original->>'uid' AS uid, (original->>'id')::uuid AS id
            FROM contact_merges merge CROSS JOIN LATERAL jsonb_array_elements(merge.originals) original
           WHERE merge.tenant_id = $1 AND merge.addressbook_id = $2),
        remaining AS (
          SELECT former.uid, former.id AS former_id, former.contact_id FROM former
           WHERE former.uid = ANY ($3) AND former.id IS NOT NULL
           UNION
          SELECT remaining.uid, remaining.former_id, former.contact_id FROM remaining JOIN former ON former.id = remaining.contact_id)
   SELECT remaining.uid AS former_uid, remaining.former_id, ${CONTACT_COLUMNS}
     FROM remaining
     JOIN contacts contact ON contact.tenant_id = $1 AND contact.addressbook_id = $2 AND contact.id = remaining.contact_id
      AND contact.gone_at IS NULL`,
);

/** Contacts as merges and imports recorded them. */
@Injectable()
export class FormerContacts {
  /** Earlier merges and imports of contacts that an undo restored can be undone next: they follow the contacts to their new revisions. */
  async follow(
    tx: Tx,
    { tenantId }: RequestContext,
    bookId: string,
    restored: readonly {
      before: { id: string; revision: number };
      after: { id: string; revision: number };
    }[],
  ): Promise<void> {
    if (restored.length === 0) return;
    await tx.query(follow, [
      tenantId,
      bookId,
      restored.map(({ before }) => before.id),
      restored.map(({ before }) => before.revision),
      restored.map(({ after }) => after.id),
      restored.map(({ after }) => after.revision),
    ]);
  }

  /** The contacts into which contacts with these uids were merged. */
  async findRemaining(
    reader: Reader,
    { tenantId }: RequestContext,
    bookId: string,
    uids: readonly string[],
  ): Promise<(ContactRow & { former_uid: string; former_id: string })[]> {
    return uids.length === 0 ? [] : reader.query(remaining, [tenantId, bookId, uids]);
  }
}
