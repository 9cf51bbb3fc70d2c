import { Injectable } from '@nestjs/common';
import { workspace } from '../database/statement.js';
import { eraseUserRows } from './personal-rows.js';
import { PersonalData, PersonalDataSource } from './personal-data.js';

// The stored responses of repeated requests contain content.
const erase = eraseUserRows('requests', 'idempotency_keys', 'socket_tokens');

const systemMails = workspace.statement<never>(
  'requests.erase_system_mails',
  `DELETE FROM system_mails WHERE tenant_id = $1 AND lower(recipient) = lower($2)`,
);

/** Records of the requests of a user and of mails to the user. They expire within days, so an export omits them. */
@Injectable()
export class RequestPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'requests',
      erasure: { rows: erase, rowsByAddress: [systemMails] },
    });
  }
}
