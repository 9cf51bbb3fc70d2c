import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { AccessChange, Account, AccountLink, Session, SigningKey } from './account.entity.js';

export const identitySchema: SchemaPart = {
  owner: 'identity',
  entities: { directory: [Account, AccountLink, Session, SigningKey, AccessChange] },
  migrations: sqlMigrations(import.meta.url, {
    Identity1795000000003: '0001-identity',
    SecondFactor1795500000002: '0201-second-factor',
    ClosedAccounts1796000000001: '0301-closed-accounts',
    AccessNotices1796950000002: '0401-access-notices',
    SealedKeysAndPendingSessions1797300000001: '0501-sealed-keys-and-pending-sessions',
    SessionIssuers1798100000001: '0601-session-issuers',
    AccountErasure1798112308252: '0701-erasure',
    SignInTime1798600000021: '0801-sign-in-time',
  }),
  sql: [],
};
