import type { SchemaPart } from './database/schema/schema-part.js';
import {
  AccountCell,
  CellRow,
  CommitDecision,
  WorkspaceCell,
  WorkspaceMoveRow,
} from './cells/cell.entity.js';
import { GuessLockRow, RateLimitRow } from './rate-limits/rate-limit.entity.js';
import { sqlMigrations } from './database/schema/sql-migration.js';
import { quotaSql } from './quotas/quota-sql.js';
import { SocketTokenRow } from './realtime/socket-token.entity.js';
import { SystemMailRow } from './system-mail/system-mail.entity.js';
import { sqlFiles } from './database/schema/stored-sql.js';
import {
  AuditLogEntry,
  BlobRecord,
  EventInterest,
  FileUsageRow,
  IdempotencyRecord,
  JobRun,
  OutboxEvent,
  PlatformSecret,
  SyncHead,
  UserFileUsageRow,
} from './platform.entities.js';

export const platformSchema: SchemaPart = {
  owner: 'platform',
  // Functions of the domains number the feeds and append events in the statement that writes.
  publishes: [
    'sync_heads',
    'lock_heads',
    'advance_head',
    'advance_head_quietly',
    'row_quota',
    'row_quota_exceeded',
    'items_need_count',
    'items_counted',
    'outbox',
    'append_if_wanted',
    'event_interests',
    'rfc3339',
    'uuid_v7',
    'blob_keep',
    'blob_release',
    'forget_responses',
  ],
  entities: {
    directory: [
      PlatformSecret,
      RateLimitRow,
      GuessLockRow,
      CellRow,
      WorkspaceCell,
      AccountCell,
      CommitDecision,
      WorkspaceMoveRow,
    ],
    workspace: [
      SyncHead,
      EventInterest,
      IdempotencyRecord,
      BlobRecord,
      FileUsageRow,
      UserFileUsageRow,
      SocketTokenRow,
      SystemMailRow,
    ],
    either: [OutboxEvent, JobRun, AuditLogEntry],
  },
  migrations: sqlMigrations(import.meta.url, {
    Platform1795000000001: '0001-platform',
    RateLimits1795500000001: '0004-rate-limits',
    Audit1795700000001: '0005-audit',
    Blobs1795200000001: '0003-blobs',
    IdempotencyObjects1796100000000: '0006-idempotency-objects',
    SocketTokens1796800000002: '0007-socket-tokens',
    SystemMails1796900000002: '0008-system-mails',
    HeadNotices1796950000001: '0009-head-notices',
    AuditTriggers1797300000003: '0010-audit-triggers',
    JobOutcomes1798022300001: '0011-job-outcomes',
    FileUsage1798300000012: '0012-file-usage',
    Cells1798400000001: '0013-cells',
    DirectoryJobs1798500000021: '0014-directory-jobs',
    CountedItems1798806000001: '0015-counted-items',
    OutboxOrder1798808000000: '0017-outbox-order',
    EventInterests1798808000002: '0016-event-interests',
    UsersOfInterests1798813000000: '0018-users-of-interests',
    ReportedHeads1798814000056: '0019-reported-heads',
  }),
  sql: [
    ...sqlFiles('either', import.meta.url, 'values'),
    quotaSql,
    ...sqlFiles('workspace', import.meta.url, 'idempotency', 'blobs', 'sync-heads', 'event-interests'),
    ...sqlFiles('directory', import.meta.url, 'rate-limits'),
  ],
};
