import type { SchemaPart } from '../../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../../platform/database/schema/stored-sql.js';

/** Migrations and SQL of guests, which belong to the schema of calls. */
export const guestsSchema: Pick<SchemaPart, 'migrations' | 'sql'> = {
  migrations: sqlMigrations(import.meta.url, {
    GuestLimits1796900000021: '0001-guest-limits',
    GuestTokenTime1798500000041: '0002-token-time',
    InvitesOfCreators1798804000002: '0003-invites-of-creators',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'guest-invites', 'release-0.1.0'),
};
