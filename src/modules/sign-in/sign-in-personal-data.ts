import { Injectable } from '@nestjs/common';
import { directory } from '../../platform/database/statement.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

// Grants, tokens and browser sessions contain the id of the account as `accountId`, `sub` or in `session`.
const eraseRecords = directory.statement<never>(
  'oidc_records.erase',
  `DELETE FROM oidc_records WHERE strpos(payload, $1::uuid::text) > 0`,
);

/** Grants, tokens and browser sessions of a user. They are not exported: the export of the sessions has their data. */
@Injectable()
export class SignInPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, { name: 'sign-in', erasure: { accountRows: [eraseRecords] } });
  }
}
