import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, Matches, ValidateBy } from 'class-validator';
import { Line, MaxBytes, Name, Nullable, Optional, Uuid } from '../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';
import { isTimeZone } from '../../lib/recurrence/index.js';
import { isLocale } from './locale-values.js';

const Is = (name: string, validate: (value: unknown) => boolean, message: string) =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => message } });

export class UpdateProfile {
  @Optional() @Name(200, { example: 'Alice Martin' }) display_name?: string;
  @Optional() @Line(100, { example: 'Alice' }) given_name?: string;
  @Optional() @Line(100, { example: 'Martin' }) family_name?: string;
  @Optional() @Line(100, { example: 'Head of Research' }) title?: string;

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
