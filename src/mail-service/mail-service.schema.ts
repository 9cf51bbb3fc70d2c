import type { SchemaPart } from '../platform/database/data-source.js';
import { sqlMigration } from '../platform/database/sql-migration.js';

/** The PostgreSQL schema that holds everything of the mail service, its own migrations table included. */
export const MAIL_SCHEMA = 'mail_service';

export const mailServiceSchema: SchemaPart = {
  entities: [],
  migrations: [
    sqlMigration('MailTables1795400000001', new URL('migrations/0001-mail-tables.sql', import.meta.url)),
    sqlMigration(
      'MessageWrites1795400000002',
      new URL('migrations/0002-message-writes.sql', import.meta.url),
    ),
    sqlMigration(
      'WeakerUserLocks1795400000003',
      new URL('migrations/0003-weaker-user-locks.sql', import.meta.url),
    ),
  ],
};
