import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { EventFilter } from '../../platform/events/public-events.js';

export const WEBHOOK_SCOPES = ['tenant', 'user'] as const;
export type WebhookScope = (typeof WEBHOOK_SCOPES)[number];

/** Why the service has deactivated a webhook. */
export const DISABLED_REASONS = [
  'gone',
  'failing',
  'owner_inactive',
  'permission_lost',
  'transferred',
] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export type WebhookFilter = Partial<Record<EventFilter, string>>;

@Entity('webhooks')
@Index('webhooks_owner', ['tenantId', 'ownerId', 'id'])
@ForeignKey('TenantMember', ['tenantId', 'ownerId'], ['tenantId', 'userId'])
export class Webhook {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('int') revision!: number;
  @Column('text') scope!: WebhookScope;
  @Column('text') url!: string;
  @Column('text') description!: string;
  @Column('text', { name: 'event_types', array: true }) eventTypes!: string[];
  @Column('jsonb') filter!: WebhookFilter;
  @Column('boolean') active!: boolean;
  @Column('text', { name: 'disabled_reason', nullable: true }) disabledReason!: DisabledReason | null;
  @Column('timestamptz', { name: 'disabled_at', nullable: true }) disabledAt!: Date | null;
  @Column('text') secret!: string;
  @Column('text', { name: 'previous_secret', nullable: true }) previousSecret!: string | null;
  @Column('timestamptz', { name: 'previous_until', nullable: true }) previousUntil!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('webhook_queues')
@Index('webhook_queues_ready', ['isSlow', 'readyAt'])
@ForeignKey('Webhook', ['tenantId', 'webhookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class WebhookQueue {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'webhook_id' }) webhookId!: string;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('timestamptz', { name: 'held_until' }) heldUntil!: Date;
  @Column('timestamptz', { name: 'ready_at' }) readyAt!: Date;
  @Column('int') claims!: number;
  @Column('int') failures!: number;
  @Column('timestamptz', { name: 'failing_since', nullable: true }) failingSince!: Date | null;
  @Column('boolean', { name: 'is_slow' }) isSlow!: boolean;
}

@Entity('webhook_deliveries')
@Index('webhook_deliveries_pending', ['tenantId', 'webhookId', 'dueAt', 'id'], {
  where: "state = 'pending'::text",
})
@Index('webhook_deliveries_list', ['tenantId', 'webhookId', 'occurredAt', 'id'])
@Index('webhook_deliveries_age', ['occurredAt'])
@ForeignKey('Webhook', ['tenantId', 'webhookId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class WebhookDelivery {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'webhook_id' }) webhookId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'event_type' }) eventType!: string;
  @Column('jsonb') facts!: Record<string, unknown>;
  @Column('timestamptz', { name: 'occurred_at' }) occurredAt!: Date;
  @Column('text') state!: DeliveryState;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('int') attempts!: number;
  @Column('timestamptz', { name: 'attempted_at', nullable: true }) attemptedAt!: Date | null;
  @Column('int', { name: 'status_code', nullable: true }) statusCode!: number | null;
  @Column('int', { name: 'latency_ms', nullable: true }) latencyMs!: number | null;
  @Column('text', { nullable: true }) response!: string | null;
  @Column('text', { nullable: true }) error!: string | null;
}
