import type { SchemaPart } from '../platform/database/data-source.js';
import { sqlMigration } from '../platform/database/sql-migration.js';
import { sqlFiles } from '../platform/database/stored-sql.js';

/** The PostgreSQL schema of the mail service, including its migrations table. */
export const MAIL_SCHEMA = 'mail_service';

export const mailServiceSchema: SchemaPart = {
  entities: [],
  migrations: [
    sqlMigration('MailTables1795400000001', new URL('migrations/0001-mail-tables.sql', import.meta.url)),
  ],
  sql: sqlFiles(new URL('sql/', import.meta.url), 'messages'),
};
