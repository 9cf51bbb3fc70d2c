import { Injectable } from '@nestjs/common';
import { directory } from '../../platform/database/statement.js';
import { eraseAccountRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const account = directory.statement<never>(
  'identity.personal_account',
  personalRows(`SELECT account.id, account.email, account.display_name, account.status, account.created_at, account.updated_at,
            account.password_changed_at, account.second_factor_since
       FROM accounts account WHERE account.id = $1`),
);

const sessions = directory.statement<never>(
  'identity.personal_sessions',
  personalRows(`SELECT session.id, session.tenant_id, session.client_id, session.created_at, session.expires_at, session.revoked_at,
            session.user_agent, session.ip, session.last_seen_at
       FROM sessions session WHERE session.account_id = $1 ORDER BY session.created_at, session.id`),
);

const links = directory.statement<never>(
  'identity.personal_links',
  personalRows(`SELECT link.issuer, link.subject, link.created_at
       FROM account_links link WHERE link.account_id = $1 ORDER BY link.issuer`),
);

const eraseSessionsIn = directory.statement<never>(
  'identity.erase_sessions_in',
  `DELETE FROM sessions WHERE tenant_id = $1 AND account_id = $2`,
);

const eraseAccount = eraseAccountRows('identity', 'sessions', 'account_links');

/** The account of a user and its sessions, in all workspaces. */
@Injectable()
export class AccountPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'account',
      accountRows: { 'account.json': account, 'sessions.json': sessions, 'linked-accounts.json': links },
      erasure: { directoryRows: [eraseSessionsIn], accountRows: eraseAccount },
    });
  }
}
