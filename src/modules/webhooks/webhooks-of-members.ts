import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { Webhook } from './webhooks.schema.js';

const lock = workspace.statement<never>(
  'webhooks.lock_of_owner',
  `SELECT FROM webhooks WHERE tenant_id = $1 AND owner_id = $2 ORDER BY id FOR UPDATE`,
);

const transfer = workspace.statement<Pick<Webhook, 'id'>>(
  'webhooks.transfer',
  `WITH ended AS (
     DELETE FROM event_interests USING webhooks
      WHERE event_interests.tenant_id = $1 AND webhooks.tenant_id = $1 AND webhooks.owner_id = $2 AND holder = webhooks.id)
   UPDATE webhooks SET owner_id = $3, active = false, disabled_reason = 'transferred', disabled_at = now(), revision = revision + 1,
          updated_at = now()
    WHERE tenant_id = $1 AND owner_id = $2 RETURNING id`,
);

/**
 * The webhooks of a member, for a transfer. They are inactive until the new owner activates them: their events then contain what the
 * new owner can read.
 */
@Injectable()
export class WebhooksOfMembers extends RegisteredContent {
  constructor(contents: MemberContent) {
    super(contents, {
      kind: 'webhooks',
      order: 80,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, Webhook).count({ tenant_id: tenantId, owner_id: userId }),
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

const webhooks = workspace.statement<never>(
  'webhooks.personal',
  personalRows(`SELECT webhook.id, webhook.scope, webhook.url, webhook.description, webhook.event_types, webhook.filter, webhook.active,
            webhook.created_at, webhook.updated_at
       FROM webhooks webhook WHERE webhook.tenant_id = $1 AND webhook.owner_id = $2 ORDER BY webhook.id`),
);

const erase = workspace.statement<never>(
  'webhooks.erase',
  `WITH ended AS (
     DELETE FROM event_interests USING webhooks
      WHERE event_interests.tenant_id = $1 AND webhooks.tenant_id = $1 AND webhooks.owner_id = $2 AND holder = webhooks.id)
   DELETE FROM webhooks WHERE tenant_id = $1 AND owner_id = $2`,
);

/** The webhooks of a member, without their secrets. */
@Injectable()
export class WebhooksPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'webhooks',
      rows: { 'webhooks.json': webhooks },
      erasure: { rows: [erase] },
    });
  }
}
