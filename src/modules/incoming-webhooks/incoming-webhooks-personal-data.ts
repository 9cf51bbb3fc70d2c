import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

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
