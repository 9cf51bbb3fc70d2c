import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, Matches, ValidateBy } from 'class-validator';
import { Line, MaxBytes, MayBeAbsent, Name, Nullable } from '../../platform/http/input.decorators.js';
import { isLocale, isTimeZone } from './locale-values.js';

const Is = (name: string, validate: (value: unknown) => boolean, message: string) =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => message } });

export class UpdateProfile {
  @ApiPropertyOptional({ minLength: 1, maxLength: 200, example: 'Alice Martin' })
  @MayBeAbsent()
  @Name(200)
  display_name?: string;

  @ApiPropertyOptional({ maxLength: 100, example: 'Alice' })
  @MayBeAbsent()
  @Line(100)
  given_name?: string;

  @ApiPropertyOptional({ maxLength: 100, example: 'Martin' })
  @MayBeAbsent()
  @Line(100)
  family_name?: string;

  @ApiPropertyOptional({ maxLength: 100, example: 'Head of Research' })
  @MayBeAbsent()
  @Line(100)
  title?: string;

  @ApiPropertyOptional({ maxLength: 50, example: '+49 30 901820' })
  @MayBeAbsent()
  @Matches(/^[+\d ().\-/*#xX]{0,50}$/, { message: 'phone must be a telephone number' })
  @Line(50)
  phone?: string;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'Europe/Berlin' })
  @Nullable()
  @Is('timeZone', isTimeZone, 'timezone must be a time zone such as Europe/Berlin')
  timezone?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'de-AT', description: 'BCP 47.' })
  @Nullable()
  @Is('locale', isLocale, 'locale must be a language tag such as de-AT')
  @Transform(({ value }) => (isLocale(value) ? Intl.getCanonicalLocales(value)[0] : value))
  locale?: string | null;

  @ApiPropertyOptional({
    example: 'alice@demo.example',
    description: 'Cannot be changed here: it may be sent back as it was read, and another one is refused.',
  })
  @MayBeAbsent()
  @IsString()
  email?: string;
}

export class DeactivateProfile {
  @ApiPropertyOptional({
    maxLength: 1000,
    example: 'demo workspace password',
    description: 'Needed where the account has one and an external provider does not sign you in.',
  })
  @MayBeAbsent()
  @MaxBytes(4000)
  @IsString()
  password?: string;

  @ApiPropertyOptional({
    example: '492039',
    description:
      'With the second factor on, where it was proven in this session more than ten minutes ago: a code of the authenticator.',
  })
  @MayBeAbsent()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits the authenticator shows' })
  code?: string;
}
