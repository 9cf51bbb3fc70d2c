import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { Flag, Optional, Text } from '../../../platform/http/input.decorators.js';
import { MAX_PASSWORD } from './guess-limits.js';

export class ChangePassword {
  @Text(MAX_PASSWORD, { example: 'correct horse battery staple' }) current_password!: string;
  /**
   * Any characters. Passwords that are easy to guess or known from a data breach are rejected.
   * @example "seven purple teapots dance"
   */
  @ApiProperty({ minLength: 12, maxLength: MAX_PASSWORD }) @IsString() new_password!: string;

  /**
   * An authenticator code. Required if the second factor is enabled and this session proved it more than ten minutes ago.
   * @example "492039"
   */
  @Optional()
  @Matches(/^\d{3}[ -]?\d{3}$/, { message: 'code must be the six digits of the authenticator' })
  code?: string;

  /** End all other sessions. */
  @Optional() @Flag() revoke_sessions: boolean = true;
  /** End all application passwords, in every workspace. */
  @Optional() @Flag() revoke_application_passwords: boolean = false;
}

export class SignOut {
  /** End all your sessions, not only this one. */
  @Optional() @Flag() everywhere: boolean = false;
}
