import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import {
  MailAccount,
  MailArrivalScan,
  MailCalendarScan,
  MailMove,
  MailPendingAccount,
  MailRecipient,
} from './mail.entity.js';

export const mailSchema: SchemaPart = {
  owner: 'mail',
  entities: {
    workspace: [MailAccount, MailArrivalScan, MailCalendarScan, MailMove, MailPendingAccount, MailRecipient],
  },
  migrations: sqlMigrations(import.meta.url, {
    Mail1795300000001: '0301-mail',
    PendingMailAccounts1795500000301: '0302-pending-accounts',
    CalendarMail1797000000002: '0303-calendar-mail',
    CalendarMailWalks1797100000020: '0304-calendar-mail-walks',
    MailArrivals1798813000001: '0305-mail-arrivals',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'recipients'),
};
