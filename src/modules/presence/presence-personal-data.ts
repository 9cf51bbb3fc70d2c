import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const presence = workspace.statement<never>(
  'presence.personal_presence',
  personalRows(`SELECT presence.choice, presence.text, presence.choice_until, presence.status, presence.last_active_at
       FROM presence_users presence WHERE presence.tenant_id = $1 AND presence.user_id = $2`),
);

const erase = eraseUserRows('presence', 'presence_users', 'presence_devices');

/** The presence of a user. */
@Injectable()
export class PresencePersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'presence',
      rows: { 'presence.json': presence },
      erasure: { rows: erase },
    });
  }
}
