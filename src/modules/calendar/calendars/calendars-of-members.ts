import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { Calendar } from '../calendar.entity.js';

const lock = workspace.statement<never>('calendar.lock_owned', `SELECT calendars_lock_owned($1, $2)`);

const transfer = workspace.statement<{ count: number }>(
  'calendar.transfer',
  `SELECT calendars_transfer($1, $2, $3, $4) AS count`,
);

/** The calendars that a member owns, for a transfer to another member. */
@Injectable()
export class CalendarsOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'calendars',
      order: 60,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Calendar).count({ tenant_id: tenantId, owner_id: userId }),
    });
  }

  /** Locks the calendars and their events. No feed of a user changes, because calendars have counters of their own. */
  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  /** The new owner organizes the events. Shares, attendees and their responses stay; secret addresses become invalid. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    return (await tx.query(transfer, [ctx.tenantId, from, to, ctx.userId]))[0]?.count ?? 0;
  }
}
