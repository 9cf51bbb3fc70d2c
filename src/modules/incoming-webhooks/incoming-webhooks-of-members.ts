import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { IncomingWebhook } from './incoming-webhook.entity.js';

const lock = workspace.statement<never>(
  'incoming_webhooks.lock_of_owner',
  `SELECT FROM incoming_webhooks WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE`,
);

const transfer = workspace.statement<{ id: string }>(
  'incoming_webhooks.transfer',
  `UPDATE incoming_webhooks SET owner_id = $3, active = false, revision = revision + 1, updated_at = now()
    WHERE tenant_id = $1 AND owner_id = $2 RETURNING id`,
);

/**
 * The incoming webhooks of a member, for a transfer. They are inactive until the new owner activates them: they then write with the
 * rights of the new owner.
 */
@Injectable()
export class IncomingWebhooksOfMembers extends RegisteredContent {
  constructor(contents: MemberContent) {
    super(contents, {
      kind: 'incoming_webhooks',
      order: 90,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, IncomingWebhook).count({ tenant_id: tenantId, owner_id: userId }),
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
