import type { SchemaPart } from '../../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../../platform/database/schema/stored-sql.js';

/** Migrations and SQL of guests, which belong to the schema of calls. */
export const guestsSchema: Pick<SchemaPart, 'migrations' | 'sql'> = {
  migrations: [
    sqlMigration('GuestLimits1796900000021', new URL('migrations/0001-guest-limits.sql', import.meta.url)),
    sqlMigration('GuestTokenTime1798500000041', new URL('migrations/0002-token-time.sql', import.meta.url)),
  ],
  sql: sqlFiles(
    'workspace',
    new URL('sql/', import.meta.url),
    'guest-limits',
    'guest-invites',
    'guest-codes',
    'guest-sessions',
    'guest-viewers',
  ),
};
