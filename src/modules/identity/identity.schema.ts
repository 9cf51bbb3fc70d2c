import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { AccessChange, Account, AccountLink, Session, SigningKey } from './account.entity.js';

export const identitySchema: SchemaPart = {
  owner: 'identity',
  entities: { directory: [Account, AccountLink, Session, SigningKey, AccessChange] },
  migrations: [
    sqlMigration('Identity1795000000003', new URL('migrations/0001-identity.sql', import.meta.url)),
    sqlMigration('SecondFactor1795500000002', new URL('migrations/0201-second-factor.sql', import.meta.url)),
    sqlMigration(
      'ClosedAccounts1796000000001',
      new URL('migrations/0301-closed-accounts.sql', import.meta.url),
    ),
    sqlMigration(
      'AccessNotices1796950000002',
      new URL('migrations/0401-access-notices.sql', import.meta.url),
    ),
    sqlMigration(
      'SealedKeysAndPendingSessions1797300000001',
      new URL('migrations/0501-sealed-keys-and-pending-sessions.sql', import.meta.url),
    ),
    sqlMigration(
      'SessionIssuers1798100000001',
      new URL('migrations/0601-session-issuers.sql', import.meta.url),
    ),
    sqlMigration('AccountErasure1798112308252', new URL('migrations/0701-erasure.sql', import.meta.url)),
    sqlMigration('SignInTime1798600000021', new URL('migrations/0801-sign-in-time.sql', import.meta.url)),
  ],
  sql: [],
};
