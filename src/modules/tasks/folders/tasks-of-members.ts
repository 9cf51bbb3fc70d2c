import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { TaskMember } from '../task.entity.js';

const lock = workspace.statement<{ users: string[] }>(
  'tasks.lock_owned',
  `SELECT tasks_transfer_lock($1, $2) AS users`,
);

const transfer = workspace.statement<{ count: number }>(
  'tasks.transfer',
  `SELECT tasks_transfer($1, $2, $3, $4, $5) AS count`,
);

/** The tasks that a member created, for a transfer to another member. */
@Injectable()
export class TasksOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'tasks',
      order: 20,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, TaskMember).count({ tenantId, userId, role: 'owner' }),
    });
  }

  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    return (await tx.query(lock, [ctx.tenantId, from]))[0]?.users ?? [];
  }

  /** Assignees and folders stay. */
  async transfer(tx: Tx, owners: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    return this.transferInBatches(tx, transfer, owners);
  }
}
