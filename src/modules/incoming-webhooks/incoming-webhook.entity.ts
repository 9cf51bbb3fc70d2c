import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

export const TARGET_TYPES = ['room', 'task_folder', 'calendar'] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

@Entity('incoming_webhooks')
@Index('incoming_webhooks_owner', ['tenantId', 'ownerId', 'id'])
@Index('incoming_webhooks_token', ['tenantId', 'tokenHash'], { unique: true })
@ForeignKey('TenantMember', ['tenantId', 'ownerId'], ['tenantId', 'userId'])
export class IncomingWebhook {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('int') revision!: number;
  @Column('text') name!: string;
  @Column('text', { name: 'target_type' }) targetType!: TargetType;
  @Column('uuid', { name: 'target_id' }) targetId!: string;
  @Column('boolean') active!: boolean;
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
