import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

export const TARGET_TYPES = ['room', 'task_folder', 'calendar'] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

@Entity('incoming_webhooks')
@Index('incoming_webhooks_owner', ['tenant_id', 'owner_id', 'id'])
@Index('incoming_webhooks_token', ['tenant_id', 'token_hash'], { unique: true })
@ForeignKey('TenantMember', ['tenant_id', 'owner_id'], ['tenant_id', 'user_id'])
export class IncomingWebhook {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') owner_id!: string;
  @Column('int') revision!: number;
  @Column('text') name!: string;
  @Column('text') target_type!: TargetType;
  @Column('uuid') target_id!: string;
  @Column('boolean') active!: boolean;
  @Column('bytea') token_hash!: Buffer;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

export const incomingWebhooksSchema: SchemaPart = {
  owner: 'incoming-webhooks',
  entities: { workspace: [IncomingWebhook] },
  growth: { bounded: ['incoming_webhooks'] },
  migrations: sqlMigrations(import.meta.url, { IncomingWebhooks1798812000001: '0001-incoming-webhooks' }),
};
