import { wholeSchema } from '../platform/database/schema/schema-part.js';
import { sqlMigration } from '../platform/database/schema/sql-migration.js';
import { Home } from '../platform/database/statement.js';
import { sqlFiles } from '../platform/database/schema/stored-sql.js';

/** The PostgreSQL schema of the mail service, including its migrations table. */
export const MAIL_SCHEMA = 'mail_service';

/** The database of the mail service: its statements see `MAIL_SCHEMA` only. */
export const mailService = new Home('mail_service');

export const mailServiceSchema = wholeSchema([
  {
    owner: 'mail-service',
    entities: {},
    migrations: [
      sqlMigration('MailTables1795400000001', new URL('migrations/0001-mail-tables.sql', import.meta.url)),
      sqlMigration('QueueClaims1795400000004', new URL('migrations/0002-queue-claims.sql', import.meta.url)),
      sqlMigration(
        'SystemMessages1796900000001',
        new URL('migrations/0003-system-messages.sql', import.meta.url),
      ),
      sqlMigration(
        'CalendarParts1797000000001',
        new URL('migrations/0004-calendar-parts.sql', import.meta.url),
      ),
      sqlMigration(
        'MailJobOutcomes1798022300002',
        new URL('migrations/0005-job-outcomes.sql', import.meta.url),
      ),
    ],
    sql: sqlFiles('mail_service', new URL('sql/', import.meta.url), 'messages', 'release-0.1.0'),
  },
]);
