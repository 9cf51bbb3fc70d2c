import { Injectable } from '@nestjs/common';
import { workspace } from '../database/statement.js';
import { PersonalData, PersonalDataSource } from './personal-data.js';

// The stored responses of repeated requests contain content.
const idempotencyKeys = workspace.statement<never>(
  'requests.erase_idempotency_keys',
  `DELETE FROM idempotency_keys WHERE tenant_id = $1 AND user_id = $2`,
);

const socketTokens = workspace.statement<never>(
  'requests.erase_socket_tokens',
  `DELETE FROM socket_tokens WHERE tenant_id = $1 AND user_id = $2`,
);

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
      erasure: { rows: [idempotencyKeys, socketTokens], rowsByAddress: [systemMails] },
    });
  }
}
