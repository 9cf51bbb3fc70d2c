import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
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

@Entity('platform_secrets')
export class PlatformSecret {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bytea') material!: Buffer;
  @Column('timestamptz') created_at!: Date;
}

@Entity('sync_heads')
export class SyncHead {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('bigint') head!: string;
  /** The number that its writer's process reports after the commit; all other ones are reported by a notice. */
  @Column('bigint', { nullable: true }) reported_head!: string | null;
  @Column('jsonb') floors!: Record<string, number>;
  /** Number of items of a kind when they were last counted, and the head at that time. */
  @Column('jsonb', { default: {} }) counted!: Record<string, { items: number; head: number }>;
}

@Entity('idempotency_keys')
@Index('idempotency_keys_created', ['created_at'])
export class IdempotencyRecord {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') route!: string;
  @PrimaryColumn('text') key!: string;
  @Column('bytea') fingerprint!: Buffer;
  @Column('int') status!: number;
  @Column('text') reply!: string;
  @Column('text', { nullable: true }) etag!: string | null;
  @Column('text', { nullable: true }) location!: string | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('outbox')
@Index('outbox_due', ['due_at'], { where: 'parked_at IS NULL' })
export class OutboxEvent {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') type!: string;
  @Column('jsonb') payload!: Record<string, unknown>;
  @Column('timestamptz') occurred_at!: Date;
  @Column('int') attempts!: number;
  @Column('timestamptz') due_at!: Date;
  @Column('timestamptz', { nullable: true }) parked_at!: Date | null;
  @Column('text', { nullable: true }) last_error!: string | null;
}

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

@Entity('job_runs')
export class JobRun {
  @PrimaryColumn('text') name!: string;
  @Column('timestamptz') ran_at!: Date;
  @Column('int', { nullable: true }) every_seconds!: number | null;
  @Column('timestamptz', { nullable: true }) succeeded_at!: Date | null;
  @Column('timestamptz', { nullable: true }) failed_at!: Date | null;
  @Column('text', { nullable: true }) error!: string | null;
}

@Entity('audit_log')
@Index('audit_log_actor', ['tenant_id', 'actor_id', 'id'])
@Index('audit_log_action', ['tenant_id', 'action', 'id'])
@Index('audit_log_object', ['tenant_id', 'object_kind', 'object_id', 'id'])
export class AuditLogEntry {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('timestamptz') occurred_at!: Date;
  @Column('text') origin!: 'api' | 'cli' | 'job';
  @Column('uuid', { nullable: true }) actor_id!: string | null;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('text', { nullable: true }) request_id!: string | null;
  @Column('text', { nullable: true }) ip!: string | null;
  @Column('text') action!: string;
  @Column('text') object_kind!: string;
  @Column('text', { nullable: true }) object_id!: string | null;
  @Column('jsonb') data!: Record<string, unknown>;
}

@Entity('blobs')
@Index('blobs_due', ['due_at'], { where: 'due_at IS NOT NULL' })
export class BlobRecord {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') state!: 'pending' | 'kept' | 'released';
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
  @Column('text', { nullable: true }) content_type!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  @Column('uuid', { nullable: true }) user_id!: string | null;
}

@Entity('file_usage')
export class FileUsageRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('bigint', { default: 0 }) bytes!: string;
  @Column('int', { default: 0 }) files!: number;
  @Column('bigint', { nullable: true }) limit_bytes!: string | null;
  @Column('bigint', { nullable: true }) user_limit_bytes!: string | null;
}

@Entity('user_file_usage')
@Index('user_file_usage_bytes', ['tenant_id', 'bytes', 'user_id'])
export class UserFileUsageRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('bigint', { default: 0 }) bytes!: string;
  @Column('int', { default: 0 }) files!: number;
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
