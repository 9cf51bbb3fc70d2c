import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

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
  /** Null: the events of the whole workspace. */
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
