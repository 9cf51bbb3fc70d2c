import type { SchemaPart } from '../../platform/database/data-source.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { sqlFiles } from '../../platform/database/stored-sql.js';
import { MailAccount, MailMove, MailRecipient } from './mail.entity.js';

export const mailSchema: SchemaPart = {
  entities: [MailAccount, MailMove, MailRecipient],
  migrations: [sqlMigration('Mail1795300000001', new URL('migrations/0301-mail.sql', import.meta.url))],
  sql: sqlFiles(new URL('sql/', import.meta.url), 'recipients'),
};
