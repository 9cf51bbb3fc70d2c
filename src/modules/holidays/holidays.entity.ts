import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { HolidaySubscription } from './subscription.js';

@Entity('holiday_subscriptions')
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class MemberSubscriptions {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('jsonb') subscriptions!: HolidaySubscription[];
  @Column('text', { array: true }) muted_tenant!: string[];
  @Column('timestamptz') updated_at!: Date;
}

@Entity('tenant_holiday_subscriptions')
export class TenantSubscriptions {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('jsonb') subscriptions!: HolidaySubscription[];
  @Column('timestamptz') updated_at!: Date;
}
