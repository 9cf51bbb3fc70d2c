import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

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
