import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
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
    ...sqlMigrations(import.meta.url, {
      Calls1796900000001: '0001-calls',
      ReusableCalls1796900000031: '0002-reusable-calls',
      CallDeclines1796900000041: '0003-call-declines',
      FailedRecordings1798800000071: '0004-failed-recordings',
      OpenCalls1798804000001: '0005-open-calls',
    }),
    ...guestsSchema.migrations,
  ],
  sql: [...sqlFiles('workspace', import.meta.url, 'call-views'), ...(guestsSchema.sql ?? [])],
};
