import type { SchemaPart } from './database/schema/schema-part.js';
import {
  AccountCell,
  CellRow,
  CommitDecision,
  WorkspaceCell,
  WorkspaceMoveRow,
} from './cells/cell.entity.js';
import { GuessLockRow, RateLimitRow } from './rate-limits/rate-limit.entity.js';
import { sqlMigration } from './database/schema/sql-migration.js';
import { SocketTokenRow } from './realtime/socket-token.entity.js';
import { SystemMailRow } from './system-mail/system-mail.entity.js';
import { sqlFiles } from './database/schema/stored-sql.js';
import {
  AuditLogEntry,
  BlobRecord,
  FileUsageRow,
  IdempotencyRecord,
  JobRun,
  OutboxEvent,
  PlatformSecret,
  SyncHead,
  UserFileUsageRow,
} from './platform.entities.js';

const SQL = new URL('sql/', import.meta.url);

export const platformSchema: SchemaPart = {
  owner: 'platform',
  // Functions of the domains number the feeds and append events in the statement that writes.
  publishes: [
    'sync_heads',
    'lock_heads',
    'advance_head',
    'outbox',
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
      IdempotencyRecord,
      BlobRecord,
      FileUsageRow,
      UserFileUsageRow,
      SocketTokenRow,
      SystemMailRow,
    ],
    either: [OutboxEvent, JobRun, AuditLogEntry],
  },
  migrations: [
    sqlMigration('Platform1795000000001', new URL('migrations/0001-platform.sql', import.meta.url)),
    sqlMigration('RateLimits1795500000001', new URL('migrations/0004-rate-limits.sql', import.meta.url)),
    sqlMigration('Audit1795700000001', new URL('migrations/0005-audit.sql', import.meta.url)),
    sqlMigration('Blobs1795200000001', new URL('migrations/0003-blobs.sql', import.meta.url)),
    sqlMigration(
      'IdempotencyObjects1796100000000',
      new URL('migrations/0006-idempotency-objects.sql', import.meta.url),
    ),
    sqlMigration('SocketTokens1796800000002', new URL('migrations/0007-socket-tokens.sql', import.meta.url)),
    sqlMigration('SystemMails1796900000002', new URL('migrations/0008-system-mails.sql', import.meta.url)),
    sqlMigration('HeadNotices1796950000001', new URL('migrations/0009-head-notices.sql', import.meta.url)),
    sqlMigration(
      'AuditTriggers1797300000003',
      new URL('migrations/0010-audit-triggers.sql', import.meta.url),
    ),
    sqlMigration('JobOutcomes1798022300001', new URL('migrations/0011-job-outcomes.sql', import.meta.url)),
    sqlMigration('FileUsage1798300000012', new URL('migrations/0012-file-usage.sql', import.meta.url)),
    sqlMigration('Cells1798400000001', new URL('migrations/0013-cells.sql', import.meta.url)),
    sqlMigration(
      'DirectoryJobs1798500000021',
      new URL('migrations/0014-directory-jobs.sql', import.meta.url),
    ),
  ],
  sql: [
    ...sqlFiles('either', SQL, 'values'),
    ...sqlFiles('workspace', SQL, 'idempotency', 'blobs', 'sync-heads'),
    ...sqlFiles('directory', SQL, 'rate-limits'),
  ],
};
