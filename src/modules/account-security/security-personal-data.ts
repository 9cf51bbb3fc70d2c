import { Injectable } from '@nestjs/common';
import { directory, workspace } from '../../platform/database/statement.js';
import { eraseAccountRows, eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const applicationPasswords = workspace.statement<never>(
  'passkeys.personal_application_passwords',
  personalRows(`SELECT password.id, password.description, password.scopes, password.created_at, password.expires_at,
            password.last_used_at, password.last_used_ip
       FROM application_passwords password WHERE password.tenant_id = $1 AND password.user_id = $2 ORDER BY password.id`),
);

const passkeys = directory.statement<never>(
  'passkeys.personal_passkeys',
  personalRows(`SELECT passkey.id, passkey.name, passkey.transports, passkey.synced, passkey.created_at, passkey.last_used_at
       FROM passkeys passkey WHERE passkey.account_id = $1 ORDER BY passkey.id`),
);

const erasure = {
  rows: eraseUserRows('passkeys', 'application_passwords'),
  accountRows: eraseAccountRows('passkeys', 'passkeys', 'second_factors', 'recovery_codes', 'account_tokens'),
};

/** Passkeys and application passwords of a user, without secrets. */
@Injectable()
export class SecurityPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'security',
      rows: { 'application-passwords.json': applicationPasswords },
      accountRows: { 'passkeys.json': passkeys },
      erasure,
    });
  }
}
