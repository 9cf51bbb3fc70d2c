import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { IncomingWebhook } from './incoming-webhooks.schema.js';

const lock = workspace.statement<never>(
  'incoming_webhooks.lock_of_owner',
  `SELECT FROM incoming_webhooks WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE`,
);

const transfer = workspace.statement<Pick<IncomingWebhook, 'id'>>(
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

const hooks = workspace.statement<never>(
  'incoming_webhooks.personal',
  personalRows(`SELECT hook.id, hook.name, hook.target_type, hook.target_id, hook.active, hook.last_used_at, hook.created_at,
            hook.updated_at
       FROM incoming_webhooks hook WHERE hook.tenant_id = $1 AND hook.owner_id = $2 ORDER BY hook.id`),
);

const erase = workspace.statement<never>(
  'incoming_webhooks.erase',
  `DELETE FROM incoming_webhooks WHERE tenant_id = $1 AND owner_id = $2`,
);

/** The incoming webhooks of a member, without their addresses. */
@Injectable()
export class IncomingWebhooksPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'incoming_webhooks',
      rows: { 'incoming_webhooks.json': hooks },
      erasure: { rows: [erase] },
    });
  }
}
