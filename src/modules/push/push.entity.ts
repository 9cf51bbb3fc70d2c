import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('push_keys')
export class PushKey {
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'public_key' }) publicKey!: string;
  @Column('text', { name: 'sealed_private_key' }) sealedPrivateKey!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('push_subscriptions')
@Index('push_subscriptions_endpoint', ['tenantId', 'endpointHash', 'userId'], { unique: true })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class PushSubscription {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') endpoint!: string;
  @Column('text', { name: 'endpoint_hash' }) endpointHash!: string;
  /** The origin of the endpoint. */
  @Column('text') service!: string;
  @Column('text') p256dh!: string;
  @Column('text') auth!: string;
  @Column('uuid', { name: 'key_id' }) keyId!: string;
  @Column('text') description!: string;
  /** Whether the device accepts messages that show nothing. */
  @Column('boolean', { name: 'can_dismiss' }) canDismiss!: boolean;
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'attempted_at', nullable: true }) attemptedAt!: Date | null;
  @Column('int', { name: 'status_code', nullable: true }) statusCode!: number | null;
  @Column('text', { nullable: true }) error!: string | null;
}

/** What is sent to a device: a notification, or its withdrawal. */
export type PushKind = 'shown' | 'dismissed';

@Entity('push_deliveries')
@Index('push_deliveries_due', ['dueAt'])
@Index('push_deliveries_age', ['createdAt'])
@ForeignKey('PushSubscription', ['tenantId', 'userId', 'subscriptionId'], ['tenantId', 'userId', 'id'], {
  onDelete: 'CASCADE',
})
export class PushDelivery {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @PrimaryColumn('uuid', { name: 'subscription_id' }) subscriptionId!: string;
  @PrimaryColumn('uuid', { name: 'notification_id' }) notificationId!: string;
  @Column('text') type!: string;
  @Column('text') service!: string;
  @Column('text') kind!: PushKind;
  @Column('text') state!: 'pending' | 'sent';
  @Column('boolean', { name: 'is_shown' }) isShown!: boolean;
  @Column('timestamptz', { name: 'due_at' }) dueAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('int') attempts!: number;
  @Column('int') claims!: number;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
