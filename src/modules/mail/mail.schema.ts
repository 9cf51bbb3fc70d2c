import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { MailAccount, MailCalendarScan, MailMove, MailPendingAccount, MailRecipient } from './mail.entity.js';

export const mailSchema: SchemaPart = {
  owner: 'mail',
  entities: { workspace: [MailAccount, MailCalendarScan, MailMove, MailPendingAccount, MailRecipient] },
  migrations: [
    sqlMigration('Mail1795300000001', new URL('migrations/0301-mail.sql', import.meta.url)),
    sqlMigration(
      'PendingMailAccounts1795500000301',
      new URL('migrations/0302-pending-accounts.sql', import.meta.url),
    ),
    sqlMigration('CalendarMail1797000000002', new URL('migrations/0303-calendar-mail.sql', import.meta.url)),
    sqlMigration(
      'CalendarMailWalks1797100000020',
      new URL('migrations/0304-calendar-mail-walks.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles('workspace', new URL('sql/', import.meta.url), 'recipients'),
};
