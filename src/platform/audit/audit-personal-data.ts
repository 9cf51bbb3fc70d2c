import { Injectable } from '@nestjs/common';
import { either } from '../database/statement.js';
import { PersonalData, PersonalDataSource } from '../personal-data/personal-data.js';
import { personalRows } from '../personal-data/personal-rows.js';
import { NO_TENANT } from './audit.js';

const events = either.statement<never>(
  'audit.personal_events',
  personalRows(`SELECT event.id, event.occurred_at, event.origin, event.action, event.object_kind, event.object_id,
            event.actor_id = $2 AS by_you, CASE WHEN event.actor_id = $2 THEN event.ip END AS ip,
            CASE WHEN event.actor_id = $2 THEN event.data END AS data
       FROM audit_log event
      WHERE event.tenant_id IN ($1, '${NO_TENANT}')
        AND (event.actor_id = $2 OR (event.object_kind = 'user' AND event.object_id = $2::text))
      ORDER BY event.id`),
);

/** The security log of a user: events by and about the user. Facts and addresses of other actors are not included. */
@Injectable()
export class AuditPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'activity-log', rows: { 'events.json': events } });
  }
}
