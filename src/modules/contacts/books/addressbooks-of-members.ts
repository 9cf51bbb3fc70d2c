import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { Addressbook } from '../contacts.entity.js';
import { AddressbooksRepository } from './addressbooks.repository.js';

const lock = workspace.statement<{ id: string }>(
  'addressbooks.lock_of_member',
  `SELECT id FROM addressbooks WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE`,
);

// The share of the new owner in a moved book is deleted. Moved books become personal and are not the default: the new owner keeps the
// own default and collected book.
const transfer = workspace.statement<{ id: string }>(
  'addressbooks.transfer',
  `WITH moved AS (
     UPDATE addressbooks SET owner_id = $3, is_default = false, kind = 'personal', revision = revision + 1, updated_at = clock_timestamp()
      WHERE tenant_id = $1 AND owner_id = $2 RETURNING id),
   unshared AS (
     DELETE FROM addressbook_shares share USING moved
      WHERE share.tenant_id = $1 AND share.addressbook_id = moved.id AND share.user_id = $3)
   SELECT id FROM moved`,
);

/** The address books of a member, for a transfer to another member. Contacts, shares and feeds stay with their book. */
@Injectable()
export class AddressbooksOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly books: AddressbooksRepository,
  ) {
    super(contents, {
      kind: 'addressbooks',
      order: 70,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Addressbook).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  /** No user's own feed changes. */
  async lock(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<string[]> {
    for (const userId of [from, to].toSorted()) await this.books.lock(tx, { ...ctx, userId });
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    return (await tx.query(transfer, [ctx.tenantId, from, to])).length;
  }
}
