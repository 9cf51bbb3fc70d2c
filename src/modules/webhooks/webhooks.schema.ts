import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
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
@Index('webhooks_owner', ['tenant_id', 'owner_id', 'id'])
@ForeignKey('TenantMember', ['tenant_id', 'owner_id'], ['tenant_id', 'user_id'])
export class Webhook {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') owner_id!: string;
  @Column('int') revision!: number;
  @Column('text') scope!: WebhookScope;
  @Column('text') url!: string;
  @Column('text') description!: string;
  @Column('text', { array: true }) event_types!: string[];
  @Column('jsonb') filter!: WebhookFilter;
  @Column('boolean') active!: boolean;
  /** Its last inactive time, and the end of that; null: none, no end. */
  @Column('timestamptz', { nullable: true }) inactive_from!: Date | null;
  @Column('timestamptz', { nullable: true }) inactive_until!: Date | null;
  @Column('text', { nullable: true }) disabled_reason!: DisabledReason | null;
  @Column('timestamptz', { nullable: true }) disabled_at!: Date | null;
  @Column('text') secret!: string;
  @Column('text', { nullable: true }) previous_secret!: string | null;
  @Column('timestamptz', { nullable: true }) previous_until!: Date | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('webhook_queues')
@Index('webhook_queues_ready', ['is_slow', 'ready_at'])
@ForeignKey('Webhook', ['tenant_id', 'webhook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class WebhookQueue {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') webhook_id!: string;
  @Column('timestamptz') due_at!: Date;
  @Column('timestamptz') held_until!: Date;
  @Column('timestamptz') ready_at!: Date;
  @Column('int') claims!: number;
  @Column('int') failures!: number;
  @Column('timestamptz', { nullable: true }) failing_since!: Date | null;
  @Column('boolean') is_slow!: boolean;
}

@Entity('webhook_deliveries')
@Index('webhook_deliveries_pending', ['tenant_id', 'webhook_id', 'due_at', 'id'], {
  where: "state = 'pending'::text",
})
@Index('webhook_deliveries_list', ['tenant_id', 'webhook_id', 'occurred_at', 'id'])
@Index('webhook_deliveries_age', ['occurred_at'])
@ForeignKey('Webhook', ['tenant_id', 'webhook_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class WebhookDelivery {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') webhook_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') event_type!: string;
  @Column('jsonb') facts!: Record<string, unknown>;
  @Column('timestamptz') occurred_at!: Date;
  @Column('text') state!: DeliveryState;
  @Column('timestamptz') due_at!: Date;
  @Column('int') attempts!: number;
  @Column('timestamptz', { nullable: true }) attempted_at!: Date | null;
  @Column('int', { nullable: true }) status_code!: number | null;
  @Column('int', { nullable: true }) latency_ms!: number | null;
  @Column('text', { nullable: true }) response!: string | null;
  @Column('text', { nullable: true }) error!: string | null;
}

export const webhooksSchema: SchemaPart = {
  owner: 'webhooks',
  entities: { workspace: [Webhook, WebhookQueue, WebhookDelivery] },
  growth: {
    trimmedBy: { 'webhooks.forget-deliveries': ['webhook_deliveries'] },
    bounded: ['webhook_queues', 'webhooks'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Webhooks1798808000001: '0001-webhooks',
    ReadyWebhookQueues1798814000052: '0002-ready-queues',
    InactiveWebhooks1798814000063: '0003-inactive-periods',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'webhook-queues'),
};
