import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import type { HolidayType } from './catalogue/catalogue-file.js';

/** A country or region whose holidays are shown. */
export interface HolidaySubscription {
  /** ISO 3166-1, two letters. */
  country: string;
  /** Code of a region without the code of the country, e.g. `BY`. */
  region: string | null;
  types: HolidayType[];
  /** Language of the names. Null means the language of the request. */
  language: string | null;
  color: string | null;
  /** The holidays block time in free/busy. */
  busy: boolean;
}

/** `DE`, or `DE-BY` for a region. */
export const placeOf = ({ country, region }: Pick<HolidaySubscription, 'country' | 'region'>): string =>
  region === null ? country : `${country}-${region}`;

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

export const holidaysSchema: SchemaPart = {
  owner: 'holidays',
  entities: { workspace: [MemberSubscriptions, TenantSubscriptions] },
  growth: { bounded: ['holiday_subscriptions', 'tenant_holiday_subscriptions'] },
  migrations: sqlMigrations(import.meta.url, {
    Holidays1796250000001: '0001-holidays',
  }),
  sql: [],
};
