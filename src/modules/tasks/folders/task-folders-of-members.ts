import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { TaskFolder } from './task-folder.entity.js';
import { TaskFoldersRepository } from './task-folders.repository.js';

const transfer = workspace.statement<{ count: number }>(
  'task_folders.transfer',
  `SELECT task_folders_transfer($1, $2, $3, $4) AS count`,
);

/** The task folders of a member, for a transfer to another member. */
@Injectable()
export class TaskFoldersOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly folders: TaskFoldersRepository,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'task_folders',
      order: 10,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, TaskFolder).count({ tenantId, ownerId: userId, goneAt: IsNull() }),
    });
  }

  /** One transfer at a time runs in a workspace, so no other transaction holds two trees. */
  async lock(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<string[]> {
    for (const owner of [from, to].toSorted()) await this.folders.lockTree(tx, ctx.tenantId, owner);
    return [];
  }

  /** Members of the folders stay; the former owner gets removals in the feed. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    return (await tx.query(transfer, [ctx.tenantId, from, to, ctx.userId]))[0]?.count ?? 0;
  }
}
