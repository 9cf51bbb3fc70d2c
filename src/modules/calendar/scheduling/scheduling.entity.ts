import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { WorkspaceItem } from '../../../platform/database/schema/item.entity.js';

export const DIRECTIONS = ['in', 'out'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** The delivery of a sent message to one recipient. */
export const DELIVERY_STATUSES = ['queued', 'sent', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The effect of a received message. */
const INCOMING_RESULTS = [
  'created',
  'updated',
  'cancelled',
  'reply_recorded',
  'counter_recorded',
  'refresh_answered',
  'ignored_stale',
  'ignored_unknown',
  'ignored_duplicate',
  'rejected',
] as const;
export type IncomingResult = (typeof INCOMING_RESULTS)[number];

export const RESULTS = [...INCOMING_RESULTS, ...DELIVERY_STATUSES] as const;
export type SchedulingResult = (typeof RESULTS)[number];

/** A scheduling message that was sent or received. */
@Entity('scheduling_messages')
@Index('scheduling_messages_once', ['tenant_id', 'dedupe_key'], { unique: true })
@Index('scheduling_messages_list', ['tenant_id', 'calendar_id', 'id'])
@Index('scheduling_messages_age', ['created_at'])
@Index('scheduling_messages_event', ['tenant_id', 'event_id'], { where: 'event_id IS NOT NULL' })
export class SchedulingMessage extends WorkspaceItem {
  @Column('uuid') calendar_id!: string;
  @Column('uuid') user_id!: string;
  @Column('uuid', { nullable: true }) event_id!: string | null;
  @Column('text') direction!: Direction;
  @Column('text', { nullable: true }) method!: string | null;
  @Column('text') uid!: string;
  @Column('text') recurrence_key!: string;
  @Column('int') sequence!: number;
  @Column('timestamptz', { nullable: true }) dtstamp!: Date | null;
  @Column('text') sender!: string;
  @Column('text') result!: SchedulingResult;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('jsonb', { nullable: true }) parsed!: unknown;
  @Column('text', { nullable: true }) ics!: string | null;
  @Column('jsonb', { nullable: true }) mail!: unknown;
  @Column('text') dedupe_key!: string;
  @Column('timestamptz') created_at!: Date;
}

@Entity('scheduling_deliveries')
@Index('scheduling_deliveries_due', ['due_at'], { where: "status = 'queued'::text" })
@Index('scheduling_deliveries_order', ['tenant_id', 'event_id', 'recipient', 'user_id', 'message_id'], {
  where: "status = 'queued'::text",
})
@Index('scheduling_deliveries_event', ['tenant_id', 'event_id', 'recipient'], {
  where: 'event_id IS NOT NULL',
})
@ForeignKey('SchedulingMessage', ['tenant_id', 'message_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class SchedulingDelivery {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') message_id!: string;
  @PrimaryColumn('text') recipient!: string;
  @Column('text') status!: DeliveryStatus;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('int') attempts!: number;
  @Column('timestamptz') due_at!: Date;
  @Column('timestamptz', { nullable: true }) sent_at!: Date | null;
  /** Null: the message is about no event. */
  @Column('uuid', { nullable: true }) event_id!: string | null;
  /** The sender. Null: an earlier release stored the delivery. */
  @Column('uuid', { nullable: true }) user_id!: string | null;
}
