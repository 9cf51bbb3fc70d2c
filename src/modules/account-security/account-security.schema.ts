import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { ApplicationPassword } from './application-passwords/application-password.entity.js';
import { AccountToken } from './recovery/account-token.entity.js';
import { Passkey, PasskeyChallenge } from './two-factor/passkeys/passkey.entity.js';
import { RecoveryCode, SecondFactor } from './two-factor/second-factor.entity.js';

export const accountSecuritySchema: SchemaPart = {
  owner: 'account-security',
  entities: {
    directory: [SecondFactor, RecoveryCode, AccountToken, Passkey, PasskeyChallenge],
    workspace: [ApplicationPassword],
  },
  migrations: [
    sqlMigration('SecondFactors1795500000003', new URL('migrations/0001-second-factor.sql', import.meta.url)),
    sqlMigration(
      'ApplicationPasswords1795500000004',
      new URL('migrations/0002-application-passwords.sql', import.meta.url),
    ),
    sqlMigration(
      'AccountTokens1797100000002',
      new URL('migrations/0003-account-tokens.sql', import.meta.url),
    ),
    sqlMigration('Passkeys1797900000001', new URL('migrations/0004-passkeys.sql', import.meta.url)),
  ],
  sql: [],
};
