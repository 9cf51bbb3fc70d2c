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
@Index('scheduling_messages_once', ['tenantId', 'dedupeKey'], { unique: true })
@Index('scheduling_messages_list', ['tenantId', 'calendarId', 'id'])
@Index('scheduling_messages_age', ['createdAt'])
@Index('scheduling_messages_event', ['tenantId', 'eventId'], { where: 'event_id IS NOT NULL' })
export class SchedulingMessage extends WorkspaceItem {
  @Column('uuid', { name: 'calendar_id' }) calendarId!: string;
  @Column('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid', { name: 'event_id', nullable: true }) eventId!: string | null;
  @Column('text') direction!: Direction;
  @Column('text', { nullable: true }) method!: string | null;
  @Column('text') uid!: string;
  @Column('text', { name: 'recurrence_key' }) recurrenceKey!: string;
  @Column('int') sequence!: number;
  @Column('timestamptz', { nullable: true }) dtstamp!: Date | null;
  @Column('text') sender!: string;
  @Column('text') result!: SchedulingResult;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('jsonb', { nullable: true }) parsed!: unknown;
  @Column('text', { nullable: true }) ics!: string | null;
  @Column('jsonb', { nullable: true }) mail!: unknown;
  @Column('text', { name: 'dedupe_key' }) dedupeKey!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('scheduling_deliveries')
@Index('scheduling_deliveries_due', ['dueAt'], { where: "status = 'queued'::text" })
@ForeignKey('SchedulingMessage', ['tenantId', 'messageId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class SchedulingDelivery {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'message_id' }) messageId!: string;
  @PrimaryColumn('text') recipient!: string;
  @Column('text') status!: DeliveryStatus;
  @Column('text', { nullable: true }) error!: string | null;
  @Column('int') attempts!: number;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('timestamptz', { name: 'sent_at', nullable: true }) sentAt!: Date | null;
}
