import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';

const joined = workspace.statement<never>(
  'calls.personal_joined',
  personalRows(`SELECT call.id, call.title, call.kind, call.state, call.scheduled_at, call.started_at, call.ended_at,
            call.host_id = $2 AS hosted, joined.first_joined_at, joined.left_at
       FROM calls call
       LEFT JOIN LATERAL (
         SELECT min(participant.first_joined_at) AS first_joined_at, max(participant.left_at) AS left_at
           FROM call_participants participant
          WHERE participant.tenant_id = call.tenant_id AND participant.call_id = call.id AND participant.principal_kind = 'user'
            AND participant.principal_id = $2) joined ON true
      WHERE call.tenant_id = $1 AND (call.host_id = $2 OR joined.first_joined_at IS NOT NULL) ORDER BY call.id`),
);

const erasePrivate = workspace.statement<never>(
  'calls.erase_private',
  `DELETE FROM calls call
    WHERE call.tenant_id = $1 AND call.host_id = $2 AND call.room_id IS NULL
      AND NOT EXISTS (SELECT FROM call_members member
                       WHERE member.tenant_id = $1 AND member.call_id = call.id AND member.user_id <> $2)
      AND NOT EXISTS (SELECT FROM call_participants participant
                       WHERE participant.tenant_id = $1 AND participant.call_id = call.id AND participant.principal_id <> $2)`,
);

/** Calls that a user hosted or joined. */
@Injectable()
export class CallsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'calls', rows: { 'calls.json': joined }, erasure: { rows: [erasePrivate] } });
  }
}
