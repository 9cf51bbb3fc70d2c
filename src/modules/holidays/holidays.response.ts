import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { WholeListEnvelope } from '../../platform/paging/page.response.js';
import { HOLIDAY_TYPES, type HolidayType } from './catalogue/catalogue-file.js';

export class HolidayResponse {
  /** The same in each response for one day and holiday. @example "DE-2026-01-06-epiphany" */ id!: string;
  @ApiProperty({ format: 'date', example: '2026-01-06' }) date!: string;
  /** Last day, the same as `date` for one day. */
  @ApiProperty({ format: 'date', example: '2026-01-06' }) end_date!: string;
  /** In the requested language, or in English without a translation. @example "Epiphany" */
  name!: string;
  /** In the first language of the country. @example "Heilige Drei Könige" */ local_name!: string;
  @ApiProperty({ enum: HOLIDAY_TYPES, example: 'public' }) type!: HolidayType;
  /** A day off in place of a holiday on a weekend. @example false */ observed!: boolean;
  /** ISO 3166-1. @example "DE" */ country!: string;
  /** The requested region. @example "BY" */ region!: string | null;
}

export class CountryResponse {
  /** ISO 3166-1. @example "DE" */ code!: string;
  /** English. @example "Germany" */ name!: string;
  /** First language. @example "de" */ language!: string;
  @ApiProperty({ type: () => [RegionResponse] }) regions!: RegionResponse[];
}

export class RegionResponse {
  /** @example "BY" */ code!: string;
  /** @example "Bayern" */ name!: string;
}

export class HolidaysPage extends WholeListEnvelope {
  /** With `country`. */
  @ApiPropertyOptional({ type: [HolidayResponse] }) holidays?: HolidayResponse[];
  /** Without `country`: all countries with their regions. */
  @ApiPropertyOptional({ type: [CountryResponse] }) countries?: CountryResponse[];
}

export class SubscriptionResponse {
  /** @example "DE" */ country!: string;
  /** @example "BY" */ region!: string | null;
  @ApiProperty({ enum: HOLIDAY_TYPES, isArray: true, example: ['public'] }) types!: HolidayType[];
  /** Language of the names. Null: the language of the request. @example "de" */ language!: string | null;
  /** @example "#0e7c3a" */ color!: string | null;
  /** The holidays block time in free/busy. @example false */ busy!: boolean;
}

export class SubscriptionsResponse {
  @ApiProperty({ type: [SubscriptionResponse] }) subscriptions!: SubscriptionResponse[];
  @ApiProperty({ type: [SubscriptionResponse] }) tenant_subscriptions!: SubscriptionResponse[];
  /** Subscriptions of the workspace that you hide, by country or country and region. @example ["DE-BY"] */
  muted_tenant!: string[];
}

export class TenantSubscriptionsResponse {
  @ApiProperty({ type: [SubscriptionResponse] }) subscriptions!: SubscriptionResponse[];
}

export class EffectiveHolidayResponse extends HolidayResponse {
  @ApiProperty({ enum: ['tenant', 'personal'], example: 'tenant' }) source!: 'tenant' | 'personal';
  /** Colour of the subscription. @example "#0e7c3a" */ color!: string | null;
  /** The holiday blocks time in free/busy. @example false */ busy!: boolean;
}

export class EffectiveHolidays extends WholeListEnvelope {
  @ApiProperty({ type: [EffectiveHolidayResponse] }) holidays!: EffectiveHolidayResponse[];
  @ApiProperty({ type: [SubscriptionResponse] }) subscriptions!: SubscriptionResponse[];
}
