import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

export const NOTIFICATION_STATES = ['unread', 'read', 'archived', 'snoozed', 'dismissed'] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

const STATE = { type: 'enum', enum: NOTIFICATION_STATES, enumName: 'notification_state' } as const;

/** The last number of the notifications of a user. The statements that number notifications advance it. */
@Entity('notification_heads')
export class NotificationHead {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('bigint') seq!: string;
}

@Entity('notifications')
@Index('notifications_list', ['tenant_id', 'user_id', 'seq'], { unique: true })
@Index('notifications_group', ['tenant_id', 'user_id', 'group_key'], {
  unique: true,
  where: `state = 'unread'::notification_state AND group_key IS NOT NULL`,
})
@Index('notifications_unread', ['tenant_id', 'user_id'], { where: `state = 'unread'::notification_state` })
@Index('notifications_snoozed', ['snooze_until'], { where: `state = 'snoozed'::notification_state` })
@Index('notifications_mails', ['email_due_at'], { where: 'email_due_at IS NOT NULL' })
@Index('notifications_age', ['updated_at'])
export class NotificationEntity {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bigint') seq!: string;
  @Column('text') type!: string;
  /** The actor of the last cause. */
  @Column('uuid', { nullable: true }) actor_id!: string | null;
  @Column('text', { nullable: true }) subject_kind!: string | null;
  @Column('uuid', { nullable: true }) subject_id!: string | null;
  @Column('text', { nullable: true }) group_key!: string | null;
  @Column('int') count!: number;
  @Column('jsonb') data!: Record<string, unknown>;
  /** False means that it is for e-mail only. */
  @Column('boolean') shown!: boolean;
  @Column(STATE) state!: NotificationState;
  /** State before the notification was archived. */
  @Column({ ...STATE, nullable: true }) previous_state!: NotificationState | null;
  @Column('timestamptz', { nullable: true }) seen_at!: Date | null;
  @Column('timestamptz', { nullable: true }) read_at!: Date | null;
  @Column('timestamptz', { nullable: true }) snooze_until!: Date | null;
  @Column('timestamptz', { nullable: true }) email_due_at!: Date | null;
  @Column('timestamptz', { nullable: true }) emailed_at!: Date | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

/** A cause that was notified. The statement that adds notifications inserts it, and ignores a known one. */
@Entity('notification_causes')
@Index('notification_causes_age', ['created_at'])
export class NotificationCauseRow {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('text') key!: string;
  @Column('timestamptz') created_at!: Date;
}

export const notificationsSchema: SchemaPart = {
  owner: 'notifications',
  entities: { workspace: [NotificationHead, NotificationEntity, NotificationCauseRow] },
  growth: {
    trimmedBy: { 'expire-notifications': ['notification_causes', 'notifications'] },
    bounded: ['notification_heads'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Notifications1796900000021: '0001-notifications',
    GuestApprovalSubjects1798600000031: '0002-guest-approvals',
  }),
  sql: [],
};
