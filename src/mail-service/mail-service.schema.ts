import { sqlMigrations, wholeSchema } from '../platform/database/schema/schema-part.js';
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
    migrations: sqlMigrations(import.meta.url, {
      MailTables1795400000001: '0001-mail-tables',
      QueueClaims1795400000004: '0002-queue-claims',
      SystemMessages1796900000001: '0003-system-messages',
      CalendarParts1797000000001: '0004-calendar-parts',
      MailJobOutcomes1798022300002: '0005-job-outcomes',
      MailboxNames1798800005000: '0006-mailbox-names',
      QueuePairs1798814000080: '0007-queue-pairs',
      Aliases1798816000081: '0008-aliases',
    }),
    sql: sqlFiles('mail_service', import.meta.url, 'messages', 'release-0.1.0'),
  },
]);
