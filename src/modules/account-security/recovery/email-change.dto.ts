import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsEmail, IsString, Matches, MaxLength } from 'class-validator';
import { Optional } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from '../guess-limits.js';

export class ChangeEmail {
  /** The new address. @example "alice@demo.example" */
  @ApiProperty({ format: 'email', maxLength: 320 })
  @Transform(({ value }) => (typeof value === 'string' ? value.trim() : value))
  @MaxLength(320)
  @IsEmail(
    { allow_utf8_local_part: true, require_tld: false },
    { message: 'email must be an e-mail address' },
  )
  email!: string;

  /** Your password, if the account has one. @example "correct horse battery staple" */
  @Optional()
  @MaxLength(MAX_PASSWORD)
  @IsString()
  password?: string;

  /**
   * An authenticator code. Required with the second factor on, when this session proved it more than ten minutes ago.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;
}
