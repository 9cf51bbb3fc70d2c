import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

@Entity('push_keys')
export class PushKey {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') public_key!: string;
  @Column('text') sealed_private_key!: string;
  @Column('timestamptz') created_at!: Date;
}

@Entity('push_subscriptions')
@Index('push_subscriptions_endpoint', ['tenant_id', 'endpoint_hash', 'user_id'], { unique: true })
@Index('push_subscriptions_bound', ['user_id'], { where: 'session_id IS NOT NULL' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class PushSubscription {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') endpoint!: string;
  @Column('text') endpoint_hash!: string;
  /** The origin of the endpoint. */
  @Column('text') service!: string;
  @Column('text') p256dh!: string;
  @Column('text') auth!: string;
  @Column('uuid') key_id!: string;
  @Column('text') description!: string;
  /** Whether the device accepts messages that show nothing. */
  @Column('boolean') can_dismiss!: boolean;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) attempted_at!: Date | null;
  @Column('int', { nullable: true }) status_code!: number | null;
  @Column('text', { nullable: true }) error!: string | null;
}

/** The payload for a device: a notification, or its withdrawal. */
export type PushKind = 'shown' | 'dismissed';

@Entity('push_deliveries')
@Index('push_deliveries_due', ['due_at'])
@Index('push_deliveries_age', ['created_at'])
@ForeignKey('PushSubscription', ['tenant_id', 'user_id', 'subscription_id'], ['tenant_id', 'user_id', 'id'], {
  onDelete: 'CASCADE',
})
export class PushDelivery {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @PrimaryColumn('uuid') subscription_id!: string;
  @PrimaryColumn('uuid') notification_id!: string;
  @Column('text') type!: string;
  @Column('text') service!: string;
  @Column('text') kind!: PushKind;
  @Column('text') state!: 'pending' | 'sent';
  /** Whether the device shows an earlier message of the notification. */
  @Column('boolean') is_shown!: boolean;
  @Column('timestamptz') due_at!: Date;
  @Column('timestamptz') expires_at!: Date;
  @Column('int') attempts!: number;
  @Column('int') claims!: number;
  @Column('timestamptz') created_at!: Date;
}

export const pushSchema: SchemaPart = {
  owner: 'push',
  entities: { directory: [PushKey], workspace: [PushSubscription, PushDelivery] },
  growth: {
    trimmedBy: { 'push.forget-deliveries': ['push_deliveries'] },
    bounded: ['push_keys', 'push_subscriptions'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Push1798811000002: '0001-push',
    BoundPushSubscriptions1798813000002: '0002-bound-subscriptions',
  }),
  sql: [],
};
