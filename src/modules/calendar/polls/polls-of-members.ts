import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { Poll } from './poll.entity.js';

const lock = workspace.statement<never>(
  'calendar.lock_polls_of_member',
  `SELECT FROM polls WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR NO KEY UPDATE`,
);

// An owner takes part in their poll. Events and tentative events follow with the calendars.
const transfer = workspace.statement<{ id: string }>(
  'calendar.transfer_polls',
  `WITH moved AS (
     UPDATE polls SET owner_id = $3, revision = revision + 1, updated_at = now()
      WHERE tenant_id = $1 AND owner_id = $2 RETURNING id
   ), joined AS (
     INSERT INTO poll_participants (tenant_id, poll_id, id, email, user_id, name, required, comment)
     SELECT $1, moved.id, uuid_v7(), lower(heir.email), heir.user_id, heir.display_name, true, ''
       FROM moved JOIN member_profiles heir ON heir.tenant_id = $1 AND heir.user_id = $3
     ON CONFLICT (tenant_id, poll_id, email) DO UPDATE SET user_id = excluded.user_id
   )
   SELECT id FROM moved`,
);

/** The polls that a member owns, for a transfer to another member. */
@Injectable()
export class PollsOfMembers extends RegisteredContent {
  constructor(contents: MemberContent) {
    super(contents, {
      kind: 'polls',
      order: 55,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Poll).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    return (await tx.query(transfer, [ctx.tenantId, from, to])).length;
  }
}
