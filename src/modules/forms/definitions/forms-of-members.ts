import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { FormEvents } from '../changes/form-events.js';
import { Form } from '../forms.entity.js';

const lock = workspace.statement<{ id: string }>(
  'forms.lock_owned',
  `SELECT id FROM forms WHERE tenant_id = $1 AND owner_id = $2 AND deleted_at IS NULL ORDER BY id FOR UPDATE`,
);

const transfer = workspace.statement<never>(
  'forms.transfer',
  `UPDATE forms SET owner_id = $3, updated_at = now() WHERE tenant_id = $1 AND id = ANY ($2)`,
);

/** The forms that a member owns, for a transfer to another member. */
@Injectable()
export class FormsOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly events: FormEvents,
  ) {
    super(contents, {
      kind: 'forms',
      order: 50,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Form).count({ tenant_id: tenantId, owner_id: userId, deleted_at: IsNull() }),
    });
  }

  /** Forms have no change feed. */
  async lock(tx: Tx, { ctx, from }: ContentTransfer): Promise<string[]> {
    await tx.query(lock, [ctx.tenantId, from]);
    return [];
  }

  /** Responses, reports and roles of others stay as they are. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    const ids = (await tx.query(lock, [ctx.tenantId, from])).map(({ id }) => id);
    await tx.query(transfer, [ctx.tenantId, ids, to]);
    for (const id of ids) await this.events.record(tx, ctx, 'transferred', id, { from, to });
    return ids.length;
  }
}
