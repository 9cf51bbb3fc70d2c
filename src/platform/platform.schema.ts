import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { AuditLogEntry } from './audit/audit.js';
import { BlobRecord } from './blobs/blobs.repository.js';
import { FileUsageRow, UserFileUsageRow } from './blobs/file-limits.js';
import { IdempotencyRecord } from './concurrency/idempotency.js';
import { OutboxEvent } from './events/outbox.js';
import { JobRun } from './jobs/periodic-jobs.js';
import { PlatformSecret } from './secrets/keyring.js';
import { SyncHead } from './sync/sync-heads.js';
import {
  AccountCell,
  CellRow,
  CommitDecision,
  WorkspaceCell,
  WorkspaceMoveRow,
} from './cells/cells.repository.js';
import { type SchemaPart, sqlMigrations } from './database/schema/schema-part.js';
import { sqlFiles } from './database/schema/stored-sql.js';
import { quotaSql } from './quotas/quotas.js';
import { GuessLockRow, RateLimitRow } from './rate-limits/rate-limits.js';
import { SocketTokenRow } from './realtime/socket-tokens.js';
import { SystemMailRow } from './system-mail/system-mails.repository.js';

@Entity('event_interests')
@Index('event_interests_holder', ['tenant_id', 'holder'])
@Index('event_interests_users', ['type', 'tenant_id', 'user_id'], { where: 'user_id IS NOT NULL' })
export class EventInterest {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('text') type!: string;
  @PrimaryColumn('uuid') holder!: string;
  /** Null means the events of the whole workspace. */
  @Column('uuid', { nullable: true }) user_id!: string | null;
  @Column('timestamptz') created_at!: Date;
}

export const platformSchema: SchemaPart = {
  owner: 'platform',
  // Functions of the domains number the feeds and append events in the statement that writes.
  publishes: [
    'sync_heads',
    'lock_heads',
    'advance_head',
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
  growth: {
    trimmedBy: {
      'cells.finish-commits': ['commit_decisions'],
      'clean-system-mails': ['system_mails'],
      'forget-idempotency-keys': ['idempotency_keys'],
      'forget-old-audit-log': ['audit_log'],
      'guess-locks.forget': ['guess_locks'],
      'rate-limits.forget': ['rate_limits'],
      'socket-tokens.forget': ['socket_tokens'],
    },
    cleanedBy: { 'collect-blobs': ['blobs'], 'recount-files': ['user_file_usage'] },
    trimmedOnUse: { 'The delivery of an event deletes its row.': ['outbox'] },
    content: ['sync_heads'],
    bounded: [
      'account_cells',
      'cells',
      'event_interests',
      'file_usage',
      'job_runs',
      'platform_secrets',
      'workspace_cells',
      'workspace_moves',
    ],
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
