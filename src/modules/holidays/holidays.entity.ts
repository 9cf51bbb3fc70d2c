import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { HolidaySubscription } from './subscription.js';

@Entity('holiday_subscriptions')
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class MemberSubscriptions {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('jsonb') subscriptions!: HolidaySubscription[];
  @Column('text', { name: 'muted_tenant', array: true }) mutedTenant!: string[];
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('tenant_holiday_subscriptions')
export class TenantSubscriptions {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @Column('jsonb') subscriptions!: HolidaySubscription[];
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
