import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsIn, IsOptional, Matches, ValidateBy } from 'class-validator';
import { formatDay, parseWallTime } from '../../lib/recurrence/index.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
import {
  Distinct,
  Entries,
  Flag,
  IntegerFrom,
  Nullable,
  Optional,
  WholeNumber,
} from '../../platform/http/input.decorators.js';
import { WholeListEnvelope } from '../../platform/paging/page.dto.js';
import { HOLIDAY_TYPES, type HolidayType } from './catalogue/catalogue-file.js';

export const MAX_SUBSCRIPTIONS = 20;
const LANGUAGE = /^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*$/;
const REGION = /^[A-Za-z0-9][A-Za-z0-9 .-]{0,29}$/;

const DAY_SECONDS = 86_400;
const isDay = (value: unknown): boolean => {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const wall = parseWallTime(value);
  return wall !== null && formatDay(wall / DAY_SECONDS) === value;
};

const Day = () =>
  ValidateBy({
    name: 'isDay',
    validator: { validate: isDay, defaultMessage: () => '$property must be a day, YYYY-MM-DD' },
  });

const UpperCase = () =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value));

/** A query parameter that may be repeated, or contain several values separated by commas. */
const CommaList = () =>
  Transform(({ value }: { value: unknown }) =>
    value === undefined
      ? value
      : [value]
          .flat()
          .flatMap((entry) => (typeof entry === 'string' ? entry.split(',').filter(Boolean) : [])),
  );

class RangeQuery {
  /** First day. Default: the first day of the current year. */
  @ApiPropertyOptional({ format: 'date', example: '2026-01-01' }) @IsOptional() @Day() from?: string;
  /** Last day, inclusive, at most three years after `from`. Default: the last day of the year of `from`. */
  @ApiPropertyOptional({ format: 'date', example: '2026-12-31' }) @IsOptional() @Day() to?: string;

  /** Language of the names, e.g. `de`. Default: English. */
  @ApiPropertyOptional({ type: String, example: 'de' })
  @IsOptional()
  @Matches(LANGUAGE, { message: 'language must be a language tag such as de' })
  language?: string;
}

export class HolidaysQuery extends RangeQuery {
  /** ISO 3166-1. Without it the response lists the countries. */
  @ApiPropertyOptional({ type: String, example: 'DE' })
  @IsOptional()
  @UpperCase()
  @Matches(/^[A-Z]{2}$/, { message: 'country must have two letters' })
  country?: string;

  /** Code of a region of the country. */
  @ApiPropertyOptional({ type: String, example: 'BY' })
  @IsOptional()
  @Matches(REGION, { message: 'region must be the code of a region' })
  region?: string;

  /** Instead of `from` and `to`. */
  @IsOptional() @WholeNumber() @IntegerFrom(1900, 2200, { example: 2026 }) year?: number;

  /** May be repeated, or separated by commas. Default: all. */
  @ApiPropertyOptional({ enum: HOLIDAY_TYPES, isArray: true, example: ['public', 'bank'] })
  @IsOptional()
  @CommaList()
  @IsIn(HOLIDAY_TYPES, { each: true })
  @IsArray()
  types?: HolidayType[];
}

export class EffectiveQuery extends RangeQuery {}

export class SubscriptionInput {
  /** ISO 3166-1. */
  @ApiProperty({ example: 'DE' })
  @UpperCase()
  @Matches(/^[A-Z]{2}$/, { message: 'country must have two letters' })
  country!: string;

  /** Code of a region; without it the holidays of the whole country. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'BY' })
  @Nullable()
  @Matches(REGION, { message: 'region must be the code of a region' })
  region?: string | null;

  /** Default: `["public"]`. */
  @ApiPropertyOptional({ enum: HOLIDAY_TYPES, isArray: true, example: ['public'] })
  @Optional()
  @Distinct()
  @IsIn(HOLIDAY_TYPES, { each: true })
  @ArrayMaxSize(HOLIDAY_TYPES.length)
  @IsArray()
  types?: HolidayType[];

  /** Language of the names. Default: the language of the request. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'de' })
  @Nullable()
  @Matches(LANGUAGE, { message: 'language must be a language tag such as de' })
  language?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: '#0e7c3a' })
  @Nullable()
  @Matches(/^#[0-9a-f]{6}$/i, { message: 'color must be #rrggbb' })
  color?: string | null;

  /** Whether the holidays block time in free/busy. Default: false. */
  @Optional() @Flag({ example: false }) busy?: boolean;
}

export class TenantSubscriptionsInput {
  /** Replaces all subscriptions. */
  @Entries(SubscriptionInput, MAX_SUBSCRIPTIONS) subscriptions!: SubscriptionInput[];
}

export class SubscriptionsInput extends TenantSubscriptionsInput {
  /** Subscriptions of the workspace to hide, e.g. `DE` or `DE-BY`. Replaces the stored list. Missing: unchanged. */
  @ApiPropertyOptional({ type: [String], maxItems: MAX_SUBSCRIPTIONS, example: ['DE-BY'] })
  @Optional()
  @Distinct()
  @Matches(/^[A-Z]{2}(?:-[A-Za-z0-9 .-]{1,30})?$/, { each: true })
  @ArrayMaxSize(MAX_SUBSCRIPTIONS)
  @IsArray()
  muted_tenant?: string[];
}

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

class YearUnsupportedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['year_unsupported'], example: 'year_unsupported' })
  override error!: 'year_unsupported';
  @ApiProperty({ type: 'integer', example: 2020 }) first_year!: number;
  @ApiProperty({ type: 'integer', example: 2045 }) last_year!: number;
}

export const HolidayErrors = {
  unknownCountry: defineError(422, 'unknown_country', 'There are no holidays for this country code.'),
  unknownRegion: defineError(422, 'unknown_region', 'The country has no region with this code.'),
  yearUnsupported: defineError(
    422,
    'year_unsupported',
    'Holidays are known for the years from first_year to last_year.',
    { example: { first_year: 2020, last_year: 2045 }, type: YearUnsupportedResponse },
  ),
} as const;
