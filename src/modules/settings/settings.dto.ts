import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, Matches, ValidateBy } from 'class-validator';
import { isTimeZone } from '../../lib/recurrence/index.js';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../platform/field-docs/field-docs.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
import { Line, MaxBytes, Name, Nullable, Optional, Uuid } from '../../platform/http/input.decorators.js';

/** A language tag of BCP 47, e.g. `de-AT`. */
export function isLocale(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 35) return false;
  try {
    return Intl.getCanonicalLocales(value).length === 1;
  } catch {
    return false;
  }
}

const Is = (name: string, validate: (value: unknown) => boolean, message: string) =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => message } });

/** Maximum numbers of characters. */
export const PROFILE_LIMITS = { display_name: 200, given_name: 100, family_name: 100, title: 100 } as const;

export class UpdateProfile {
  @Optional() @Name(PROFILE_LIMITS.display_name, { example: 'Alice Martin' }) display_name?: string;
  @Optional() @Line(PROFILE_LIMITS.given_name, { example: 'Alice' }) given_name?: string;
  @Optional() @Line(PROFILE_LIMITS.family_name, { example: 'Martin' }) family_name?: string;
  @Optional() @Line(PROFILE_LIMITS.title, { example: 'Head of Research' }) title?: string;

  @ApiPropertyOptional({ maxLength: 50, example: '+49 30 901820' })
  @Optional()
  @Matches(/^[+\d ().\-/*#xX]{0,50}$/, { message: 'phone must be a telephone number' })
  @Line(50)
  phone?: string;

  /** @example "Europe/Berlin" */
  @Nullable()
  @Is('timeZone', isTimeZone, 'timezone must be a time zone such as Europe/Berlin')
  timezone?: string | null;

  /** BCP 47. @example "de-AT" */
  @Nullable()
  @Is('locale', isLocale, 'locale must be a language tag such as de-AT')
  @Transform(({ value }) => (isLocale(value) ? Intl.getCanonicalLocales(value)[0] : value))
  locale?: string | null;

  /** Read-only: the current address is accepted, another one is rejected. */
  @ApiPropertyOptional({ example: 'alice@demo.example' }) @Optional() @IsString() email?: string;
}

export class DeactivateProfile {
  /**
   * Required when the account has a password, unless an external provider signs you in.
   * @example "demo workspace password"
   */
  @ApiPropertyOptional({ maxLength: 1000 })
  @Optional()
  @MaxBytes(4000)
  @IsString()
  password?: string;

  /**
   * An authenticator code. Required if the second factor is enabled and this session proved it more than ten minutes ago.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;

  /** An active member who becomes the owner of your notes, tasks and folders. */
  @Optional() @Uuid({ example: EXAMPLE_ID }) transfer_to?: string;
}

export class ProfileResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'alice@demo.example' }) email!: string;
  /** The name that members of the workspace see. @example "Alice Martin" */ display_name!: string;
  /** @example "Alice" */ given_name!: string;
  /** @example "Martin" */ family_name!: string;
  /** @example "Head of Research" */ title!: string;
  /** @example "+49 30 901820" */ phone!: string;
  /** @example "Europe/Berlin" */ timezone!: string | null;
  /** @example "de-AT" */ locale!: string | null;
  @ApiProperty({ enum: ['owner', 'admin', 'member'], example: 'member' }) role!: string;
  @ApiProperty({ enum: ['active', 'deactivated'], example: 'active' }) status!: string;
  /** Start of the membership. */ @ApiProperty(DATE_TIME)
  created_at!: string;
  @ApiProperty(DATE_TIME) updated_at!: string;
}

export class ProfileEnvelope {
  profile!: ProfileResponse;
}

export class DeactivatedProfileEnvelope extends ProfileEnvelope {
  @ApiProperty({ enum: [true], example: true }) deactivated!: true;
  /** Whether the account was closed, as it belonged to no other workspace. @example true */
  account_closed!: boolean;
}

/** 409 `conflict`: the current preferences, to merge with. */
export class PreferencesConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  /** The current revision, for the retry. @example 4 */
  @ApiProperty({ type: 'integer', minimum: 0 }) rev!: number;
  @ApiProperty({ type: 'object', additionalProperties: true, example: { theme: 'dark' } })
  preferences!: Record<string, unknown>;
}

export const SettingsErrors = {
  fieldLocked: defineError(422, 'field_locked', 'The workspace does not let members change this field.'),
  conflict: defineError(
    409,
    'conflict',
    'The preferences have changed since you read them; merge and retry with the `rev` in this response.',
    { example: { rev: 4, preferences: { theme: 'dark' } }, type: PreferencesConflictResponse },
  ),
} as const;
