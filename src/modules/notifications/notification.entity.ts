import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

export const NOTIFICATION_STATES = ['unread', 'read', 'archived', 'snoozed', 'dismissed'] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

const STATE = { type: 'enum', enum: NOTIFICATION_STATES, enumName: 'notification_state' } as const;

@Entity('notification_heads')
export class NotificationHead {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('bigint') seq!: string;
}

@Entity('notifications')
@Index('notifications_list', ['tenantId', 'userId', 'seq'], { unique: true })
@Index('notifications_group', ['tenantId', 'userId', 'groupKey'], {
  unique: true,
  where: `state = 'unread'::notification_state AND group_key IS NOT NULL`,
})
@Index('notifications_unread', ['tenantId', 'userId'], { where: `state = 'unread'::notification_state` })
@Index('notifications_snoozed', ['snoozeUntil'], { where: `state = 'snoozed'::notification_state` })
@Index('notifications_mails', ['emailDueAt'], { where: 'email_due_at IS NOT NULL' })
@Index('notifications_age', ['updatedAt'])
export class NotificationEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bigint') seq!: string;
  @Column('text') type!: string;
  @Column('uuid', { name: 'actor_id', nullable: true }) actorId!: string | null;
  @Column('text', { name: 'subject_kind', nullable: true }) subjectKind!: string | null;
  @Column('uuid', { name: 'subject_id', nullable: true }) subjectId!: string | null;
  @Column('text', { name: 'group_key', nullable: true }) groupKey!: string | null;
  @Column('int') count!: number;
  @Column('jsonb') data!: Record<string, unknown>;
  @Column('boolean') shown!: boolean;
  @Column(STATE) state!: NotificationState;
  @Column({ ...STATE, name: 'previous_state', nullable: true }) previousState!: NotificationState | null;
  @Column('timestamptz', { name: 'seen_at', nullable: true }) seenAt!: Date | null;
  @Column('timestamptz', { name: 'read_at', nullable: true }) readAt!: Date | null;
  @Column('timestamptz', { name: 'snooze_until', nullable: true }) snoozeUntil!: Date | null;
  @Column('timestamptz', { name: 'email_due_at', nullable: true }) emailDueAt!: Date | null;
  @Column('timestamptz', { name: 'emailed_at', nullable: true }) emailedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('notification_causes')
@Index('notification_causes_age', ['createdAt'])
export class NotificationCauseRow {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('text') key!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
