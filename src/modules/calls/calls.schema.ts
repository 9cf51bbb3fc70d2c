import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import {
  Call,
  CallBan,
  CallDecline,
  CallMember,
  CallParticipant,
  Recording,
  WebhookEventRow,
} from './calls.entity.js';
import {
  ExternalInvite,
  Guest,
  GuestDomain,
  GuestLimitRow,
  GuestOtp,
  GuestSpentToken,
} from './guests/guest.entity.js';
import { guestsSchema } from './guests/guests.schema.js';

export const callsSchema: SchemaPart = {
  owner: 'calls',
  entities: {
    workspace: [
      Call,
      CallMember,
      CallDecline,
      CallParticipant,
      Recording,
      WebhookEventRow,
      ExternalInvite,
      Guest,
      GuestOtp,
      GuestDomain,
      GuestSpentToken,
      GuestLimitRow,
      CallBan,
    ],
  },
  migrations: [
    sqlMigration('Calls1796900000001', new URL('migrations/0001-calls.sql', import.meta.url)),
    sqlMigration(
      'ReusableCalls1796900000031',
      new URL('migrations/0002-reusable-calls.sql', import.meta.url),
    ),
    sqlMigration('CallDeclines1796900000041', new URL('migrations/0003-call-declines.sql', import.meta.url)),
    sqlMigration(
      'FailedRecordings1798800000071',
      new URL('migrations/0004-failed-recordings.sql', import.meta.url),
    ),
    ...guestsSchema.migrations,
  ],
  sql: [
    ...sqlFiles('workspace', new URL('sql/', import.meta.url), 'call-views'),
    ...(guestsSchema.sql ?? []),
  ],
};
