import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const attributes = workspace.statement<never>(
  'scim.personal_attributes',
  personalRows(`SELECT record.external_id, record.attributes, record.updated_at
       FROM scim_users record WHERE record.tenant_id = $1 AND record.user_id = $2 AND record.deleted_at IS NULL`),
);

const erase = eraseUserRows('scim', 'scim_users');

/** The attributes of a user that a provisioning client has written. */
@Injectable()
export class ScimPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'provisioning',
      rows: { 'attributes.json': attributes },
      erasure: { rows: erase },
    });
  }
}
