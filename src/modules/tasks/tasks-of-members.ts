import { Injectable, type OnModuleInit } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { type ContentTransfer, MemberContent, type OwnedContent } from '../tenants/index.js';

/** Tasks that one statement transfers, well within its time limit. */
const BATCH = 500;

// Index task_members_feed: only the creator of a task has this role.
const count = workspace.statement<{ count: number }>(
  'tasks.count_owned',
  `SELECT count(*)::int AS count FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND role = 'owner'`,
);

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
export class TasksOfMembers implements OwnedContent, OnModuleInit {
  readonly kind = 'tasks';
  readonly order = 20;

  constructor(
    private readonly contents: MemberContent,
    private readonly outbox: Outbox,
  ) {}

  onModuleInit(): void {
    this.contents.register(this);
  }

  async count(reader: Reader, { tenantId, userId }: { tenantId: string; userId: string }): Promise<number> {
    return (await reader.query(count, [tenantId, userId]))[0]?.count ?? 0;
  }

  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    return (await tx.query(lock, [ctx.tenantId, from]))[0]?.users ?? [];
  }

  /** Assignees and folders stay. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    let total = 0;
    for (let moved = BATCH; moved === BATCH; total += moved)
      moved = (await tx.query(transfer, [ctx.tenantId, from, to, ctx.userId, BATCH]))[0]?.count ?? 0;
    return total;
  }
}
