import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { Note } from '../note.entity.js';

const lock = workspace.statement<{ user_id: string }>(
  'notes.lock_owned',
  `WITH locked AS (
     SELECT member_ids FROM notes WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE)
   SELECT DISTINCT unnest(member_ids) AS user_id FROM locked`,
);

const transfer = workspace.statement<{ count: number }>(
  'notes.transfer',
  `SELECT notes_transfer_batch($1, $2, $3, $4, $5) AS count`,
);

/** The notes that a member owns, for a transfer to another member. */
@Injectable()
export class NotesOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'notes',
      order: 40,
      count: (reader, { tenantId, userId }) => rowsOf(reader, Note).count({ tenantId, ownerId: userId }),
    });
  }

  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    return (await tx.query(lock, [ctx.tenantId, from])).map((row) => row.user_id);
  }

  /** Share links end; invited members stay. Notes keep their folder, which has been transferred before. */
  async transfer(tx: Tx, owners: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    return this.transferInBatches(tx, transfer, owners);
  }
}
