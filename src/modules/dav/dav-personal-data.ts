import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const properties = workspace.statement<never>(
  'dav.personal_properties',
  personalRows(`SELECT stored.collection_id, stored.properties FROM dav_properties stored
      WHERE stored.tenant_id = $1 AND stored.user_id = $2 ORDER BY stored.collection_id`),
);

/** Properties that the programs of a user have set on collections. */
@Injectable()
export class DavPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'dav',
      rows: { 'properties.json': properties },
      erasure: { rows: eraseUserRows('dav', 'dav_properties') },
    });
  }
}
