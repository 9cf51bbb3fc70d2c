import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('platform_secrets')
export class PlatformSecret {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bytea') material!: Buffer;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('sync_heads')
export class SyncHead {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('bigint') head!: string;
  @Column('jsonb') floors!: Record<string, number>;
  /** Number of items of a kind when they were last counted, and the head at that time. */
  @Column('jsonb', { default: {} }) counted!: Record<string, { items: number; head: number }>;
}

@Entity('idempotency_keys')
@Index('idempotency_keys_created', ['createdAt'])
export class IdempotencyRecord {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text') route!: string;
  @PrimaryColumn('text') key!: string;
  @Column('bytea') fingerprint!: Buffer;
  @Column('int') status!: number;
  @Column('text') reply!: string;
  @Column('text', { nullable: true }) etag!: string | null;
  @Column('text', { nullable: true }) location!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('outbox')
@Index('outbox_due', ['dueAt'], { where: 'parked_at IS NULL' })
export class OutboxEvent {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') type!: string;
  @Column('jsonb') payload!: Record<string, unknown>;
  @Column('timestamptz', { name: 'occurred_at' }) occurredAt!: Date;
  @Column('int') attempts!: number;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('timestamptz', { name: 'parked_at', nullable: true }) parkedAt!: Date | null;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
}

@Entity('event_interests')
@Index('event_interests_holder', ['tenantId', 'holder'])
@Index('event_interests_users', ['type', 'tenantId', 'userId'], { where: 'user_id IS NOT NULL' })
export class EventInterest {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('text') type!: string;
  @PrimaryColumn('uuid') holder!: string;
  /** Null: the events of the whole workspace. */
  @Column('uuid', { name: 'user_id', nullable: true }) userId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('job_runs')
export class JobRun {
  @PrimaryColumn('text') name!: string;
  @Column('timestamptz', { name: 'ran_at' }) ranAt!: Date;
  @Column('int', { name: 'every_seconds', nullable: true }) everySeconds!: number | null;
  @Column('timestamptz', { name: 'succeeded_at', nullable: true }) succeededAt!: Date | null;
  @Column('timestamptz', { name: 'failed_at', nullable: true }) failedAt!: Date | null;
  @Column('text', { nullable: true }) error!: string | null;
}

@Entity('audit_log')
@Index('audit_log_actor', ['tenantId', 'actorId', 'id'])
@Index('audit_log_action', ['tenantId', 'action', 'id'])
@Index('audit_log_object', ['tenantId', 'objectKind', 'objectId', 'id'])
export class AuditLogEntry {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('timestamptz', { name: 'occurred_at' }) occurredAt!: Date;
  @Column('text') origin!: 'api' | 'cli' | 'job';
  @Column('uuid', { name: 'actor_id', nullable: true }) actorId!: string | null;
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('text', { name: 'request_id', nullable: true }) requestId!: string | null;
  @Column('text', { nullable: true }) ip!: string | null;
  @Column('text') action!: string;
  @Column('text', { name: 'object_kind' }) objectKind!: string;
  @Column('text', { name: 'object_id', nullable: true }) objectId!: string | null;
  @Column('jsonb') data!: Record<string, unknown>;
}

@Entity('blobs')
@Index('blobs_due', ['dueAt'], { where: 'due_at IS NOT NULL' })
export class BlobRecord {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') state!: 'pending' | 'kept' | 'released';
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
  @Column('text', { name: 'content_type', nullable: true }) contentType!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
  @Column('uuid', { name: 'user_id', nullable: true }) userId!: string | null;
}

@Entity('file_usage')
export class FileUsageRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @Column('bigint', { default: 0 }) bytes!: string;
  @Column('int', { default: 0 }) files!: number;
  @Column('bigint', { name: 'limit_bytes', nullable: true }) limitBytes!: string | null;
  @Column('bigint', { name: 'user_limit_bytes', nullable: true }) userLimitBytes!: string | null;
}

@Entity('user_file_usage')
@Index('user_file_usage_bytes', ['tenantId', 'bytes', 'userId'])
export class UserFileUsageRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('bigint', { default: 0 }) bytes!: string;
  @Column('int', { default: 0 }) files!: number;
}
