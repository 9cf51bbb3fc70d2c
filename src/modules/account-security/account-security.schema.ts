import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
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
  migrations: sqlMigrations(import.meta.url, {
    SecondFactors1795500000003: '0001-second-factor',
    ApplicationPasswords1795500000004: '0002-application-passwords',
    AccountTokens1797100000002: '0003-account-tokens',
    Passkeys1797900000001: '0004-passkeys',
  }),
  sql: [],
};
